package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"

	"anodyne.example/anodyne/client"
)

// asked is a report that was asked for, always with a key.
type asked struct {
	by    int
	key   string
	sent  client.NewReport
	first *client.Report // nil before an answer
	ended removal
	// seen is the status that was seen last.
	seen client.ReportStatus
	// touched marks one to be looked at.
	touched bool
}

// hooked is a webhook, always created with a key, for an event that never
// happens.
type hooked struct {
	by    int
	key   string
	first *client.WebhookWithSecret
	ended removal

	touched bool
}

// removal is the state of something that may be removed.
type removal int

const (
	stays removal = iota
	mayBeGone
	isGone
)

// removed notes the answer to a removal. One that an earlier request without
// an answer has removed is not found.
func (l *ledger) removed(what string, ended *removal, err error) bool {
	if *ended == mayBeGone && client.IsNotFound(err) {
		err = nil
	}
	if !l.answered(what, err) {
		*ended = mayBeGone
		return false
	}
	*ended = isGone
	return true
}

// there checks a response about something that may have been removed, and
// returns whether it exists.
func (l *ledger) there(what string, ended *removal, err error) bool {
	l.tb.Helper()
	switch {
	case err == nil && *ended == isGone:
		l.tb.Errorf("%s was removed and is there", what)
	case err == nil:
		*ended = stays
		return true
	case client.IsNotFound(err) && *ended == stays:
		l.tb.Errorf("%s was acknowledged and is lost", what)
	case client.IsNotFound(err):
		*ended = isGone
	default:
		l.tb.Errorf("%s: %v", what, err)
	}
	return false
}

// report makes a report up, about a patient or about all.
func (w *writer) report(l *ledger, by int, r *record) *asked {
	w.names++
	a := &asked{by: by, key: fmt.Sprintf("report %d/%d", w.number, w.names), sent: client.NewReport{
		Type: client.StewardshipReport, Format: []client.ReportFormat{client.PDF, client.CSV, client.JSON, client.XLSX}[w.random.IntN(4)]}}
	if w.random.IntN(2) == 0 {
		a.sent.Type, a.sent.Parameters.PatientID = client.PatientSummaryReport, r.known.ID
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reports = append(l.reports, a)
	w.reports = append(w.reports, a)
	return a
}

// askReport asks for a report, or asks again.
func (l *ledger) askReport(c *client.Client, a *asked) bool {
	a.touched = true
	report, err := c.CreateReport(l.tb.Context(), a.sent, client.WithIdempotencyKey(a.key))
	if !l.answered("ask for a report", err) {
		return false
	}
	if a.first != nil && !reflect.DeepEqual(a.first, report) {
		l.tb.Errorf("report %s: asked again with its key it is answered in another way", a.first.ID)
	}
	a.first = report
	return true
}

// hook makes a webhook, or makes it again.
func (l *ledger) hook(c *client.Client, h *hooked) bool {
	h.touched = true
	made, err := c.CreateWebhook(l.tb.Context(), client.NewWebhook{URL: "https://receiver.example.org/" + h.key[len("hook "):],
		Events: []client.EventType{client.EventReportFailed}}, client.WithIdempotencyKey(h.key))
	if !l.answered("make a webhook", err) {
		return false
	}
	if h.first != nil && !reflect.DeepEqual(h.first, made) {
		l.tb.Errorf("webhook %s: made again with its key it is answered in another way", h.first.ID)
	}
	h.first = made
	return true
}

// serve does something beside patients and their records.
func (w *writer) serve(l *ledger, c *client.Client, by int, r *record) bool {
	ctx := l.tb.Context()
	switch w.random.IntN(6) {
	case 0:
		if len(w.reports) > 0 {
			a := w.reports[w.random.IntN(len(w.reports))]
			switch {
			case a.by != by || a.ended != stays:
			case a.first == nil || w.random.IntN(2) == 0:
				return l.askReport(c, a)
			default:
				a.touched = true
				return l.removed("remove a report", &a.ended, c.DeleteReport(ctx, a.first.ID))
			}
		}
	case 1, 2:
		// One each is what an organisation may have.
		switch h := w.hook; {
		case h == nil || h.ended == isGone:
			w.names++
			h = &hooked{by: by, key: fmt.Sprintf("hook %d-%d", w.number, w.names)}
			l.mu.Lock()
			l.hooks = append(l.hooks, h)
			l.mu.Unlock()
			w.hook = h
			return l.hook(c, h)
		case h.by != by || h.ended != stays:
		case h.first == nil || w.random.IntN(3) == 0:
			return l.hook(c, h)
		default:
			h.touched = true
			return l.removed("remove a webhook", &h.ended, c.DeleteWebhook(ctx, h.first.ID))
		}
	case 3, 4:
		if l.node != nil {
			return w.token(l, c, by)
		}
	}
	// One without an answer is asked for again before there is another: a
	// service that is away for a while would owe thousands.
	if last := len(w.reports) - 1; last >= 0 && w.reports[last].first == nil && w.reports[last].by == by {
		return l.askReport(c, w.reports[last])
	}
	return l.askReport(c, w.report(l, by, r))
}

// readService compares reports, webhooks and tokens with the ledger while
// nothing is written.
func (l *ledger) readService(clients []*client.Client) {
	l.tb.Helper()
	ctx, c := l.tb.Context(), newest(clients)
	reports, hooks := 0, l.receivers
	for _, a := range l.reports {
		if a.first == nil && !l.askReport(clients[a.by], a) {
			l.tb.Fatal("a report that is asked for again with its key was not answered")
		}
		if a.touched {
			report, err := c.Report(ctx, a.first.ID)
			if l.there("report "+a.first.ID, &a.ended, err) {
				if a.seen = report.Status; a.seen == client.ReportFailed {
					l.tb.Errorf("report %s failed: %s", report.ID, report.Error)
				}
			}
			a.touched = a.ended == stays && a.seen != client.ReportCompleted
		}
		if a.ended == stays {
			reports++
		}
	}
	for _, h := range l.hooks {
		if h.first == nil && !l.hook(clients[h.by], h) {
			l.tb.Fatal("a webhook that is made again with its key was not answered")
		}
		if h.touched {
			hook, err := c.Webhook(ctx, h.first.ID)
			if l.there("webhook "+h.first.ID, &h.ended, err) && !reflect.DeepEqual(*hook, h.first.Webhook) {
				l.tb.Errorf("webhook %s is not as it was acknowledged", hook.ID)
			}
			h.touched = false
		}
		if h.ended == stays {
			hooks++
		}
	}
	l.listService(c, reports, hooks)
	l.readTokens()
}

// listService compares the totals of reports and webhooks with the ledger.
func (l *ledger) listService(c *client.Client, reports, hooks int) {
	l.tb.Helper()
	ctx := l.tb.Context()
	if page, err := c.Reports(ctx, client.ReportQuery{Limit: 1}); err != nil {
		l.tb.Fatal(err)
	} else if page.Pagination.Total != reports {
		l.tb.Errorf("%d reports are listed, %d are known", page.Pagination.Total, reports)
	}
	if page, err := c.Webhooks(ctx, 1, 1); err != nil {
		l.tb.Fatal(err)
	} else if page.Pagination.Total != hooks {
		l.tb.Errorf("%d webhooks are listed, %d are known", page.Pagination.Total, hooks)
	}
}

// countReports compares the event log with the reports: no event is repeated,
// and every completed report has one.
func (l *ledger) countReports() {
	l.tb.Helper()
	for _, a := range l.reports {
		if a.first == nil {
			continue
		}
		completed := l.events[a.first.ID]["report.completed"]
		if completed > 1 || completed == 0 && a.ended == stays && a.seen == client.ReportCompleted || len(l.events[a.first.ID]) > completed {
			l.tb.Errorf("report %s is %s; the events say %v", a.first.ID, a.seen, l.events[a.first.ID])
		}
	}
}

// finishReports waits until every report is there, as a file that is what its
// row says.
func (l *ledger) finishReports(c *client.Client) {
	l.tb.Helper()
	ctx, cancel := context.WithTimeout(l.tb.Context(), takeover)
	defer cancel()
	for _, a := range l.reports {
		if a.ended != stays {
			continue
		}
		report, err := c.WaitReport(ctx, a.first.ID)
		if err != nil {
			l.tb.Fatalf("report %s: %v", a.first.ID, err)
		}
		a.seen = report.Status
		var file bytes.Buffer
		size, err := c.DownloadReport(ctx, report.ID, &file)
		if err != nil {
			l.tb.Fatalf("report %s: %v", report.ID, err)
		}
		if sum := sha256.Sum256(file.Bytes()); report.Status != client.ReportCompleted || *report.SizeBytes != size || report.SHA256 != hex.EncodeToString(sum[:]) {
			l.tb.Errorf("report %s is %s, with %d bytes that are not its own", report.ID, report.Status, size)
		}
	}
}
