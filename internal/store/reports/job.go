package reports

import (
	"bytes"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
)

// exportType is the type number of exports, as the statements of this package
// spell it. Those below it are of reports.
const exportType = 100

// span is a range of type numbers.
type span struct{ first, last int64 }

var (
	allReportTypes = span{0, exportType - 1}
	allExportTypes = span{exportType, exportType}
)

// Job is what reports and exports have in common. Until they are known, times
// are zero and Size is -1.
type Job struct {
	Client    id.Client // the client that requested it
	Status    Status
	Progress  int // percent
	CreatedAt time.Time
	StartedAt time.Time
	// CompletedAt is when it ended, completed or failed.
	CompletedAt time.Time
	ExpiresAt   time.Time
	Size        int64
	SHA256      []byte
	Error       string // why it failed, as a message for people

	no, fence int64
}

// work is a report or an export, as the queue sees it.
type work interface {
	job() *Job
	// typeCode is the type number.
	typeCode() int64
	// key is the identifier as stored, and resource as shown.
	key() []byte
	resource() string
	// end returns the action and the event of completing it or of failing.
	end(at time.Time, completed bool) (audit.Action, *event.Event)
	// alert returns what is raised if it failed.
	alert() event.Alert
}

// newJob returns a job that is ready to be queued.
func newJob(client id.Client, now time.Time) Job {
	return Job{Client: client, Status: Pending, CreatedAt: now.UTC().Truncate(time.Second), Size: -1}
}

// Waiting reports whether the job has not ended yet. It is called by templates,
// which have a copy.
func (j Job) Waiting() bool { return j.Status == Pending || j.Status == Processing }

// HasExpired reports whether the retention of the files has ended, whether or
// not ExpireReports has noticed.
func (j *Job) HasExpired(now time.Time) bool {
	return j.Status == Expired || j.Status == Completed && !now.Before(j.ExpiresAt)
}

const reportColumns = `report_no, id, client_id, report_type, format, title, parameters, patient_id, status, progress, as_of,
	created_at, started_at, completed_at, expires_at, size, sha256, error, fence, files`

// scanJob reads the columns that reports and exports have in common.
func scanJob(r engine.Row) (j Job, err error) {
	j = Job{
		Status: Statuses[r.Int(8)], Progress: int(r.Int(9)),
		CreatedAt: engine.FromMillis(r.Int(11)), StartedAt: engine.Moment(r, 12), CompletedAt: engine.Moment(r, 13), ExpiresAt: engine.Moment(r, 14),
		Size: -1, SHA256: bytes.Clone(r.Raw(16)), Error: r.Text(17), no: r.Int(0), fence: r.Int(18),
	}
	if !r.IsNull(15) {
		j.Size = r.Int(15)
	}
	j.Client, err = id.FromBytes[id.ClientKind](r.Raw(2))
	return j, err
}

// one reads the job with an identifier; kind is what the error calls it if there
// is none.
func one[T any](tx engine.Tx, org access.OrgNo, sql, kind string, jobID identifier, scan func(engine.Row) (T, error)) (job T, err error) {
	found := false
	err = tx.Query(sql, func(r engine.Row) (err error) {
		found = true
		job, err = scan(r)
		return err
	}, int64(org), jobID.Bytes())
	if err == nil && !found {
		err = fault.Missing(kind, jobID.String())
	}
	return job, err
}

// identifier is the identifier of a report or an export.
type identifier interface {
	Bytes() []byte
	String() string
}
