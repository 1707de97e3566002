package portal

import (
	"encoding/json"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/journal"
)

// auditPageSize is the number of entries on a page.
const auditPageSize = 50

type auditPage struct {
	Lines            []auditLine
	Action, Resource string
	Actions          []audit.Action
	Older            string
}

type auditLine struct {
	Timestamp string          `json:"timestamp"`
	Action    string          `json:"action"`
	Client    string          `json:"client_id"`
	Member    string          `json:"member_id"`
	Resource  string          `json:"resource"`
	Source    string          `json:"source"`
	Details   json.RawMessage `json:"details"`
}

// Who returns the client or member who acted.
func (l auditLine) Who() string {
	if l.Member != "" {
		return l.Member
	}
	return l.Client
}

// Said returns the details as names and values.
func (l auditLine) Said() []fact { return told(string(l.Details)) }

func (p *Portal) audit(v *visit) error {
	q := v.r.URL.Query()
	page := auditPage{Action: q.Get("action"), Resource: strings.TrimSpace(q.Get("resource")), Actions: audit.Actions()}
	if page.Action != "" && !audit.Action(page.Action).Known() {
		return fault.New(fault.InvalidParameter, "The action is unknown.")
	}
	before, err := readAuditCursor(q.Get("before"))
	if err != nil {
		return err
	}
	if err := v.org.FlushReads(v.r.Context()); err != nil {
		return err
	}
	filter := journal.AuditFilter{Action: audit.Action(page.Action), Resource: page.Resource}
	lines, next, more, err := v.org.AuditNewest(v.r.Context(), before, auditPageSize, filter)
	if err != nil {
		return err
	}
	for _, line := range lines {
		var l auditLine
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		page.Lines = append(page.Lines, l)
	}
	if more {
		page.Older = strconv.FormatInt(int64(next.Pos), 10) + "-" + strconv.Itoa(next.Line)
	}
	if err := v.saw(audit.AuditRead, ""); err != nil {
		return err
	}
	return v.show("audit", "Audit log", page)
}

func readAuditCursor(s string) (c journal.AuditCursor, err error) {
	if s == "" {
		return c, nil
	}
	pos, line, _ := strings.Cut(s, "-")
	at, err1 := strconv.ParseInt(pos, 10, 64)
	n, err2 := strconv.Atoi(line)
	if err1 != nil || err2 != nil || at < 0 || n < 0 {
		return c, fault.New(fault.InvalidParameter, "The position in the log is unknown.")
	}
	return journal.AuditCursor{Pos: journal.Pos(at), Line: n}, nil
}
