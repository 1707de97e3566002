// Package audit defines the content of audit entries, their redaction, and the
// seal of the log. It has no I/O; internal/store stores the entries.
package audit

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"anodyne.example/anodyne/internal/id"
)

// Action is an audited action.
type Action string

// The audited actions.
const (
	PatientCreate   Action = "patient.create"
	PatientUpdate   Action = "patient.update"
	PatientMerge    Action = "patient.merge"
	PatientErase    Action = "patient.erase"
	PatientRead     Action = "patient.read"
	PatientList     Action = "patient.list"
	PatientSearch   Action = "patient.search"
	ClinicalCreate  Action = "clinical_data.create"
	ClinicalCorrect Action = "clinical_data.correct"
	ClinicalRead    Action = "clinical_data.read"
	ClinicalList    Action = "clinical_data.list"
	ReportCreate    Action = "report.create"
	ReportRead      Action = "report.read"
	ReportDownload  Action = "report.download"
	ReportDelete    Action = "report.delete"
	ReportComplete  Action = "report.complete"
	ReportFail      Action = "report.fail"
	ExportCreate    Action = "export.create"
	ExportRead      Action = "export.read"
	ExportDownload  Action = "export.download"
	ExportDelete    Action = "export.delete"
	ExportComplete  Action = "export.complete"
	ExportFail      Action = "export.fail"
	SeriesRepair    Action = "series.repair"
	// ClinicalDerive is recorded when derived values of medications changed
	// with the rules or with the organisation's aliases.
	ClinicalDerive Action = "clinical_data.derive"
	// Aliases are an organisation's names for medicines.
	AliasCreate Action = "alias.create"
	AliasUpdate Action = "alias.update"
	AliasDelete Action = "alias.delete"
	// Cohorts are saved selections of patients.
	CohortCreate    Action = "cohort.create"
	CohortRead      Action = "cohort.read"
	CohortDelete    Action = "cohort.delete"
	AnalyticsRead   Action = "analytics.read"
	AuditRead       Action = "audit.read"
	OrgCreate       Action = "organization.create"
	ClientCreate    Action = "client.create"
	ClientRotate    Action = "client.rotate"
	ClientRevoke    Action = "client.revoke"
	ClientTier      Action = "client.tier"
	ClientRequest   Action = "client.request"
	ClientGrant     Action = "client.grant"
	ClientDecline   Action = "client.decline"
	ClientKeyAdd    Action = "client.key_add"
	ClientKeyRemove Action = "client.key_remove"
	ClientKeysURI   Action = "client.jwks_uri"
	TokenRevoke     Action = "token.revoke"
	MemberInvite    Action = "member.invite"
	MemberCreate    Action = "member.create"
	MemberUpdate    Action = "member.update"
	MemberPassword  Action = "member.password"
	// MemberReset is the creation of a password reset link; using it is
	// MemberPassword.
	MemberReset   Action = "member.reset"
	SessionCreate Action = "session.create"
	SessionRefuse Action = "session.refuse"
	SessionEnd    Action = "session.end"

	WebhookCreate Action = "webhook.create"
	WebhookUpdate Action = "webhook.update"
	WebhookDelete Action = "webhook.delete"
	WebhookRotate Action = "webhook.rotate"
	// WebhookReveal is recorded when a signing secret was shown again because
	// the request that created it was repeated.
	WebhookReveal    Action = "webhook.reveal"
	WebhookTest      Action = "webhook.test"
	WebhookRedeliver Action = "webhook.redeliver"
	WebhookRecover   Action = "webhook.recover"
	AlertRaise       Action = "alert.raise"

	// SealAdopt is the first record outside the database of existing seals,
	// SealAccept an operator's confirmation that a log which differs from such
	// a record is correct, and DatabaseRestore a log restored from a backup.
	SealAdopt       Action = "seal.adopt"
	SealAccept      Action = "seal.accept"
	DatabaseRestore Action = "database.restore"
)

var actions = map[Action]bool{
	PatientCreate: true, PatientUpdate: true, PatientMerge: true, PatientErase: true, PatientRead: true, PatientList: true, PatientSearch: true, AuditRead: true,
	ReportCreate: true, ReportRead: true, ReportDownload: true, ReportDelete: true, ReportComplete: true, ReportFail: true,
	ExportCreate: true, ExportRead: true, ExportDownload: true, ExportDelete: true, ExportComplete: true, ExportFail: true,
	ClinicalCreate: true, ClinicalCorrect: true, ClinicalRead: true, ClinicalList: true, SeriesRepair: true, ClinicalDerive: true, AnalyticsRead: true,
	AliasCreate: true, AliasUpdate: true, AliasDelete: true, CohortCreate: true, CohortRead: true, CohortDelete: true,
	OrgCreate: true, ClientCreate: true, ClientRotate: true, ClientRevoke: true, ClientTier: true, ClientRequest: true, ClientGrant: true, ClientDecline: true,
	ClientKeyAdd: true, ClientKeyRemove: true, ClientKeysURI: true, TokenRevoke: true,
	MemberInvite: true, MemberCreate: true, MemberUpdate: true, MemberPassword: true, MemberReset: true,
	SessionCreate: true, SessionRefuse: true, SessionEnd: true,
	WebhookCreate: true, WebhookUpdate: true, WebhookDelete: true, WebhookRotate: true, WebhookReveal: true,
	WebhookTest: true, WebhookRedeliver: true, WebhookRecover: true,
	AlertRaise: true, SealAdopt: true, SealAccept: true, DatabaseRestore: true,
}

// Known reports whether an action is defined.
func (a Action) Known() bool { return actions[a] }

// Actions lists the actions in alphabetical order.
func Actions() []Action { return slices.Sorted(maps.Keys(actions)) }

// Operator is the actor for the command line, and Service for the service
// itself.
const (
	Operator = "operator"
	Service  = "service"
)

// Entry is one audit entry.
type Entry struct {
	At        time.Time
	RequestID string
	// Actor is the client's identifier, Operator or Service. Member is the
	// member who acted in the portal.
	Actor  string
	Member string
	Action Action
	// Resource is the identifier of the affected record, or "".
	Resource string
	// Source is the caller's address, or "".
	Source string
	// Details is a JSON object, or nil.
	Details json.RawMessage
}

// Append appends the JSON form of the entry, which is both stored and
// published.
func (e *Entry) Append(b []byte) []byte {
	b = append(b, `{"timestamp":"`...)
	b = e.At.UTC().AppendFormat(b, time.RFC3339)
	b = append(b, `","action":"`...)
	b = append(b, e.Action...)
	b = append(b, '"')
	b = member(b, "client_id", e.Actor)
	b = member(b, "member_id", e.Member)
	b = member(b, "resource", e.Resource)
	b = member(b, "request_id", e.RequestID)
	b = member(b, "source", e.Source)
	if len(e.Details) > 0 {
		b = append(append(b, `,"details":`...), e.Details...)
	}
	return append(b, '}')
}

func member(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	b, _ = jsontext.AppendQuote(b, value) // only fails for invalid UTF-8, which is replaced
	return b
}

// Change is a changed field of a record, for the details of an update.
// Together they are the history of the record.
type Change struct {
	Field  string `json:"field"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// Changes returns the details of an update's entry.
func Changes(changes []Change) json.RawMessage {
	details, err := json.Marshal(struct {
		Changes []Change `json:"changes"`
	}{changes})
	if err != nil {
		panic(err) // strings always marshal
	}
	return details
}

// Correction returns the details of the entry of a corrected record: its status
// now, the record that replaced it, unless zero, and the reason. Values are not
// included. The reason is free text and may contain names, so it is protected
// like a value.
func Correction(record id.Record, status string, replacedBy id.Record, reason string) json.RawMessage {
	b := append(make([]byte, 0, 160), `{"record":"`...)
	b = record.Append(b)
	b = append(b, `","status":"`...)
	b = append(b, status...)
	b = append(b, '"')
	if !replacedBy.IsZero() {
		b = append(replacedBy.Append(append(b, `,"replaced_by":"`...)), '"')
	}
	if reason != "" {
		b, _ = jsontext.AppendQuote(append(b, `,"reason":`...), reason) // only fails for invalid UTF-8, which is replaced
	}
	return append(b, '}')
}

// Redact removes the values of changes from an entry, for readers who may see
// the log but not the patients. The names of the changed fields remain.
func Redact(line []byte) ([]byte, error) {
	var entry map[string]json.RawMessage
	if err := json.Unmarshal(line, &entry); err != nil {
		return nil, err
	}
	var details map[string]any
	var changed struct {
		Changes []Change `json:"changes"`
	}
	if err := json.Unmarshal(entry["details"], &changed); err != nil || len(changed.Changes) == 0 {
		return line, nil
	}
	if err := json.Unmarshal(entry["details"], &details); err != nil {
		return nil, err
	}
	fields := make([]string, 0, len(changed.Changes))
	for _, c := range changed.Changes {
		fields = append(fields, c.Field)
	}
	delete(details, "changes")
	details["fields"], details["redacted"] = fields, true
	redacted, err := json.Marshal(details)
	if err != nil {
		return nil, err
	}
	entry["details"] = redacted
	return json.Marshal(entry)
}

// RedactReason removes the reason of a correction from an entry: it is free
// text and may contain names.
func RedactReason(line []byte) ([]byte, error) {
	if !bytes.Contains(line, []byte(`"reason":`)) {
		return line, nil
	}
	var entry, details map[string]json.RawMessage
	if err := json.Unmarshal(line, &entry); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(entry["details"], &details); err != nil || details["reason"] == nil {
		return line, nil
	}
	delete(details, "reason")
	details["redacted"] = json.RawMessage("true")
	redacted, err := json.Marshal(details)
	if err != nil {
		return nil, err
	}
	entry["details"] = redacted
	return json.Marshal(entry)
}
