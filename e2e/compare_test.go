package e2e

import (
	"errors"
	"reflect"
	"strings"

	"anodyne.example/anodyne/client"
)

// isAnswer reports whether an error is the service's answer, and not the lack
// of one.
func isAnswer(err error) bool {
	_, ok := errors.AsType[*client.Error](err)
	return ok
}

// away503 checks a response of a service without its database against the
// contract.
func (l *ledger) away503(err error) {
	e, _ := errors.AsType[*client.Error](err)
	if e.Status != 503 || e.RetryAfter <= 0 || e.Message == "" || e.RequestID == "" || e.Details == nil {
		l.tb.Errorf("an answer without the database: %#v", e)
	}
	l.words.Store(e.Message, true)
}

// said reports whether such a response contained these words.
func (l *ledger) said(words string) (yes bool) {
	l.words.Range(func(message, _ any) bool {
		yes = strings.Contains(message.(string), words)
		return !yes
	})
	return yes
}

// equal compares two answers, the version included.
func equal(a, b *client.Patient) bool { return reflect.DeepEqual(a, b) }

// same holds an answer against what was sent.
func (l *ledger) same(what string, sent client.NewPatient, got *client.Patient) {
	back := client.NewPatient{Name: got.Name, DateOfBirth: got.DateOfBirth, Gender: got.Gender, Contact: got.Contact}
	for _, h := range got.MedicalHistory {
		// The service fills in what follows from the rest.
		back.MedicalHistory = append(back.MedicalHistory, client.HistoryEntry{Condition: h.Condition, ICD10Code: h.ICD10Code})
	}
	if !reflect.DeepEqual(sent, back) || got.ID == "" || got.ETag == "" || got.CreatedAt.IsZero() {
		l.tb.Errorf("%s: sent %+v, got %+v", what, sent, *got)
	}
}
