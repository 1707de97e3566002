package reports

import (
	"context"

	"anodyne.example/anodyne/internal/reporttype"
	"anodyne.example/anodyne/internal/store/engine"
)

// ReportQuery selects reports. "" matches any.
type ReportQuery struct {
	Status      Status
	Type        reporttype.Type
	Page, Limit int64
}

// Each filter has its own statement and index. The total comes from counters; a
// deep page reads the index only.
const (
	listReports         = `SELECT ` + reportColumns + ` FROM report WHERE org_no = $1`
	reportPage          = ` ORDER BY report_no LIMIT $2 OFFSET $3`
	allReports          = listReports + ` AND report_type < 100` + reportPage
	reportsOfStatus     = listReports + ` AND status = $4 AND report_type < 100` + reportPage
	reportsOfType       = listReports + ` AND report_type = $4` + reportPage
	reportsOfTypeStatus = listReports + ` AND report_type = $4 AND status = $5` + reportPage

	sumReports       = `SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM report_count WHERE org_no = $1`
	sumOfAll         = sumReports + ` AND report_type < 100`
	sumOfStatus      = sumReports + ` AND status = $2 AND report_type < 100`
	sumOfType        = sumReports + ` AND report_type = $2`
	sumOfTypesStatus = sumReports + ` AND report_type = $2 AND status = $3`
)

// Reports calls each for a page of the reports in order of creation, and
// returns the total number of matching reports, both from one snapshot.
func (o Org) Reports(ctx context.Context, q ReportQuery, each func(*Report)) (total int64, err error) {
	page, sum := allReports, sumOfAll
	var filter []any
	switch {
	case q.Type != "" && q.Status != "":
		page, sum, filter = reportsOfTypeStatus, sumOfTypesStatus, []any{q.Type.Code(), q.Status.code()}
	case q.Type != "":
		page, sum, filter = reportsOfType, sumOfType, []any{q.Type.Code()}
	case q.Status != "":
		page, sum, filter = reportsOfStatus, sumOfStatus, []any{q.Status.code()}
	}
	return o.list(ctx, sum, page, q.Page, q.Limit, filter, func(r engine.Row) error {
		rep, err := scanReport(r)
		if err == nil {
			each(&rep)
		}
		return err
	})
}

// list reads the total and a page from one snapshot.
func (o Org) list(ctx context.Context, sum, page string, number, limit int64, filter []any, each func(engine.Row) error) (total int64, err error) {
	err = o.db.Snapshot(ctx, func(tx engine.Tx) error {
		tx.Last(
			engine.Stmt{SQL: sum, Args: append([]any{int64(o.org)}, filter...), Each: func(r engine.Row) error {
				total = r.Int(0)
				return nil
			}},
			engine.Stmt{SQL: page, Args: append([]any{int64(o.org), limit, (number - 1) * limit}, filter...), Each: each},
		)
		return nil
	})
	return total, err
}

// ExportQuery selects exports. "" matches any status.
type ExportQuery struct {
	Status      Status
	Page, Limit int64
}

// Exports calls each for a page of the exports in order of creation, and
// returns the total number of matching exports, both from one snapshot.
func (o Org) Exports(ctx context.Context, q ExportQuery, each func(*Export)) (total int64, err error) {
	page, sum, filter := reportsOfType, sumOfType, []any{int64(exportType)}
	if q.Status != "" {
		page, sum, filter = reportsOfTypeStatus, sumOfTypesStatus, append(filter, q.Status.code())
	}
	return o.list(ctx, sum, page, q.Page, q.Limit, filter, func(r engine.Row) error {
		x, err := scanExport(r)
		if err == nil {
			each(&x)
		}
		return err
	})
}
