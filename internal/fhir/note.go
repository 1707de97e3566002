package fhir

import (
	"encoding/base64"
	"mime"
	"strings"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/pain"
)

const (
	progressNote     = "11506-3" // LOINC: Progress note
	documentCategory = "http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category"
	plainText        = "text/plain; charset=utf-8"
)

func writeNote(o *outgoing) error {
	r := DocumentReference{
		domainResource: o.resource("DocumentReference", usCore+"us-core-documentreference"), Identifier: o.identifier(),
		Status: "current", DocStatus: o.status(), Type: concept(loinc, progressNote), Subject: o.subject(),
		Category: []CodeableConcept{*concept(documentCategory, "clinical-note")},
		Date:     pain.Moment(o.rec.RecordedAt), Author: o.performers(),
	}
	if r.DocStatus == "entered-in-error" {
		r.Status = r.DocStatus
	}
	r.Type.Text = o.text("note_type")
	if o.notes() != nil {
		r.Description = o.rec.Notes
	}
	if encounter := o.encounter(); encounter != nil {
		r.Context = &DocumentContext{Encounter: []Reference{*encounter}}
	}
	r.Content = []DocumentContent{{Attachment{ContentType: plainText, Data: base64.StdEncoding.EncodeToString([]byte(o.text("text")))}}}
	r.Extension = o.extensions()
	return o.add(r.ResourceType, r.ID, r)
}

func readNote(in *incoming) {
	var r DocumentReference
	if !in.decode(&r) {
		return
	}
	in.draft.DataType = pain.TypeNotes
	switch {
	case r.Status == "entered-in-error" || r.DocStatus == "entered-in-error":
		in.draft.Status = pain.EnteredInError
	case r.Status != "current":
		in.refuse(NotSupported, "status", "Only documents with the status current or entered-in-error are accepted.")
	case r.DocStatus == "preliminary":
		in.refuse(NotSupported, "docStatus", "Only documents with the status final or amended are accepted.")
	case r.DocStatus == "amended":
		in.draft.Status = pain.Amended
	}
	var encounter *Reference
	if r.Context != nil && len(r.Context.Encounter) == 1 {
		encounter = &r.Context.Encounter[0]
	}
	in.readCommon(r.Identifier, r.Subject, "subject", encounter, r.Author, "author", nil)
	in.setRecord("notes", r.Description, "description")
	if r.Date != "" {
		in.readMoment(r.Date, "date")
	} else {
		in.refuse(Required, "date", "The time of the document is required.")
	}
	if r.Type != nil {
		in.setText("note_type", noteType(r.Type), "type")
	}
	in.readContent(r.Content)
	in.readExtensions(r.Extension)
}

// noteType is the text of the type, or else what its code means. The code that
// we write ourselves has no text.
func noteType(c *CodeableConcept) string {
	if c.code(loinc) == progressNote && c.Text == "" {
		return ""
	}
	if text := c.words(); utf8.RuneCountInString(text) <= longestLabel {
		return text
	}
	return ""
}

// readContent takes the text of the document: the first attachment that is
// plain text. Other formats beside it are kept as received.
func (in *incoming) readContent(list []DocumentContent) {
	for i := range list {
		a, at := &list[i].Attachment, "content"+index(i)+".attachment"
		if !isPlainText(a.ContentType) {
			continue
		}
		if a.Data == "" {
			in.refuse(NotSupported, at+".data", "The text must be in the resource itself; a document at a URL is not accepted.")
			return
		}
		text, err := base64.StdEncoding.DecodeString(strings.Map(dropSpace, a.Data))
		switch {
		case err != nil:
			in.refuse(Value, at+".data", "The data must be in base64.")
		case !utf8.Valid(text):
			in.refuse(Value, at+".data", "The text must be in UTF-8.")
		default:
			in.setText("text", string(text), at+".data")
		}
		return
	}
	in.refuse(NotSupported, "content[0].attachment.contentType", "Only documents with plain text (text/plain in UTF-8) are accepted.")
}

func dropSpace(r rune) rune {
	if strings.ContainsRune(" \t\r\n", r) {
		return -1
	}
	return r
}

func isPlainText(contentType string) bool {
	kind, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "text/plain" {
		return false
	}
	charset := strings.ToLower(parameters["charset"])
	return charset == "" || charset == "utf-8" || charset == "us-ascii"
}
