package report

import (
	"context"
	"io"
	"sync/atomic"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/export"
	"anodyne.example/anodyne/internal/store/reports"
)

// readShare is the share of the progress of an export that is reading; the rest
// is storing the files.
const readShare = 80

// writeExport reads the data in one snapshot, then stores the files.
func (w *Worker) writeExport(ctx context.Context, claim *reports.ExportClaim, progress *atomic.Int32) error {
	dir, err := w.Store.ExportDir()
	if err != nil {
		return err
	}
	files := newSpool(dir)
	defer files.close()
	made, err := w.readExport(ctx, claim, files, func(done, of int64) { progress.Store(int32(readShare * done / max(of, 1))) })
	if err != nil {
		return err
	}
	total := int64(0)
	for i := range made.Files {
		made.Files[i].Offset = total
		total += made.Files[i].Size
	}
	out := newChunks(ctx, claim)
	out.stored = func(size int64) { progress.Store(int32(readShare + (100-readShare)*size/max(total, 1))) }
	for i := range made.Files {
		from, err := files.open(made.Files[i].Name)
		if err != nil {
			return err
		}
		if _, err := io.Copy(out, from); err != nil {
			return err
		}
	}
	if err := out.flush(); err != nil {
		return err
	}
	return claim.Complete(ctx, made.AsOf, made.Head, made.Files, out.size, out.sum.Sum(nil), w.Retention)
}

// readExport reads the data of an export into files.
func (w *Worker) readExport(ctx context.Context, claim *reports.ExportClaim, files *spool, seen func(done, of int64)) (export.Result, error) {
	org := w.Store.For(&access.Principal{Org: claim.OrgNo()})
	if claim.Format == reports.FHIR {
		options, err := export.StoredBulk(&claim.ExportRequest, claim.CreatedAt)
		if err != nil {
			return export.Result{}, err
		}
		return export.RunBulk(ctx, org, options, w.Mapping, w.Now(), files, seen)
	}
	options, err := export.Stored(&claim.ExportRequest, claim.CreatedAt)
	if err != nil {
		return export.Result{}, err
	}
	return export.Run(ctx, org, options, w.Store.System().PseudonymKey(claim.OrgNo()), w.Now(), files, seen)
}
