package importer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/fhirwrite"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/patients"
)

// FHIR is the kind of files with FHIR resources.
const FHIR Kind = "fhir"

// fhirTypes are the types of resources that are imported. Others are counted.
var fhirTypes = []string{"Patient", "Condition", "Observation", "QuestionnaireResponse", "MedicationRequest", "MedicationStatement", "Procedure", "AdverseEvent", "DocumentReference"}

// TypeCount counts the resources of one type by result.
type TypeCount struct {
	Type                                      string
	Read, Imported, Already, Refused, LeftOut int64
}

// fhirJob is the import of files with FHIR resources. Patients are imported
// first, because the other resources refer to them.
type fhirJob struct {
	*Config
	files []*fhirFile
	// known has the patients of this run by the references to them.
	known map[string]id.Patient
	// expected are, in a dry run, those that would be stored.
	expected map[id.Patient]pain.Date
	keys     map[patients.ImportHash]patients.ImportedPerson // in a dry run
	counts   map[string]*TypeCount
	// unnamed counts equal resources without id.
	unnamed map[patients.ImportHash]int
	// responses are QuestionnaireResponses of files with a line for each, which
	// wait for the score of the same record in another file.
	responses map[string]resource
	total     int64
}

// chunkResources is the number of resources per transaction. That of a Bundle is
// larger, so that parts of one record are in one transaction.
const (
	chunkResources = 500
	chunkEntries   = 2000
)

// runFHIR imports files with FHIR resources.
func (cfg *Config) runFHIR(ctx context.Context, files []*fhirFile) (sum Summary, err error) {
	start := time.Now()
	// Scores look for the answers of the same record; see wait.
	slices.SortStableFunc(files, func(a, b *fhirFile) int { return cmp.Compare(answersFirst(a), answersFirst(b)) })
	j := &fhirJob{Config: cfg, files: files, known: map[string]id.Patient{}, expected: map[id.Patient]pain.Date{}, keys: map[patients.ImportHash]patients.ImportedPerson{},
		counts: map[string]*TypeCount{}, unnamed: map[patients.ImportHash]int{}, responses: map[string]resource{}}
	for _, f := range files {
		j.total += f.size
		path := cfg.Errors
		if path == "" {
			path = f.path + ".errors.ndjson"
		}
		f.refused = newRefused(path, f.path, &source{})
		if cfg.Errors != "" && f != files[0] {
			f.refused = files[0].refused
		}
	}
	defer func() {
		for i, f := range files {
			if i == 0 || f.refused != files[0].refused {
				err = errors.Join(err, f.refused.close())
			}
		}
		sum = j.summary()
		sum.Elapsed = time.Since(start)
	}()
	for _, first := range []bool{true, false} {
		if err := j.pass(ctx, first); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

func answersFirst(f *fhirFile) int {
	if f.kind == "QuestionnaireResponse" {
		return 0
	}
	return 1
}

// pass imports the patients of all files, with the conditions of Bundles, or
// everything else.
func (j *fhirJob) pass(ctx context.Context, first bool) error {
	done := int64(0)
	for _, f := range j.files {
		size := chunkResources
		if f.bundle {
			size = chunkEntries
		}
		var chunk []resource
		record := "" // that the last resource is part of
		flush := func() error {
			rows := chunk
			chunk = nil
			return j.keep(ctx, rows)
		}
		err := f.each(func(read int64) {
			if j.Progress != nil {
				j.Progress(j.name(), first, done+read, j.total)
			}
		}, func(r resource) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			person := r.kind == "Patient" || r.kind == "Condition" && f.bundle
			if person != first || !j.takes(&r) {
				return nil
			}
			if r.kind == "QuestionnaireResponse" && !f.bundle && j.wait(&r) {
				return nil
			}
			of := j.recordOf(&r)
			if len(chunk) >= size && (of == "" || of != record) { // parts of one record stay together
				if err := flush(); err != nil {
					return err
				}
			}
			rows, err := j.together(r)
			chunk, record = append(chunk, rows...), of
			return err
		})
		if err == nil {
			err = flush()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		done += f.size
	}
	if first {
		return nil
	}
	return j.keepWaiting(ctx)
}

// name returns the name of the files in progress reports.
func (j *fhirJob) name() string {
	if len(j.files) == 1 {
		return j.files[0].path
	}
	return fmt.Sprintf("%d FHIR files", len(j.files))
}

// takes counts a resource, and reports whether it is to be imported.
func (j *fhirJob) takes(r *resource) bool {
	count := j.count(r)
	count.Read++
	if r.problem == "" && r.kind != "" && !slices.Contains(fhirTypes, r.kind) {
		count.LeftOut++
		return false
	}
	return true
}

func (j *fhirJob) count(r *resource) *TypeCount {
	kind := r.kind
	if kind == "" {
		kind = "unknown"
	}
	if j.counts[kind] == nil {
		j.counts[kind] = &TypeCount{Type: kind}
	}
	return j.counts[kind]
}

// wait holds back the answers of an assessment until the score of the same
// record comes, which may be in another file. Only its place is kept.
func (j *fhirJob) wait(r *resource) bool {
	key := j.recordOf(r)
	if key == "" || j.responses[key].file != nil {
		return false
	}
	held := *r
	held.body = nil
	j.responses[key] = held
	return true
}

// together returns a resource, and that which waits for it.
func (j *fhirJob) together(r resource) ([]resource, error) {
	if r.kind != "Observation" || len(j.responses) == 0 {
		return []resource{r}, nil
	}
	key := j.recordOf(&r)
	held, ok := j.responses[key]
	if !ok || key == "" {
		return []resource{r}, nil
	}
	delete(j.responses, key)
	full, err := held.again()
	return []resource{r, full}, err
}

// recordOf returns the record of this service, in any organisation, that a
// resource is part of, or "". It only looks for the identifier in the text.
func (j *fhirJob) recordOf(r *resource) string {
	_, rest, ok := bytes.Cut(r.body, []byte(`"`+j.FHIR.RecordSystem()+`"`))
	if !ok {
		return ""
	}
	_, rest, ok = bytes.Cut(rest[:min(len(rest), 200)], []byte(`"value"`))
	if !ok {
		return ""
	}
	parts := bytes.SplitN(rest, []byte(`"`), 3)
	if len(parts) < 3 {
		return ""
	}
	return string(parts[1])
}

// keepWaiting imports the answers whose score did not come.
func (j *fhirJob) keepWaiting(ctx context.Context) error {
	waiting := make([]resource, 0, len(j.responses))
	for _, r := range j.responses {
		waiting = append(waiting, r)
	}
	slices.SortFunc(waiting, func(a, b resource) int {
		if a.file != b.file {
			return strings.Compare(a.file.path, b.file.path)
		}
		return a.at - b.at
	})
	for rows := range slices.Chunk(waiting, chunkResources) {
		for i := range rows {
			var err error
			if rows[i], err = rows[i].again(); err != nil {
				return err
			}
		}
		if err := j.keep(ctx, rows); err != nil {
			return err
		}
	}
	return nil
}

// refuse records what is wrong with a resource.
func (j *fhirJob) refuse(r *resource, issues ...fhir.Issue) error {
	j.count(r).Refused++
	faults := make([]fault.Field, len(issues))
	for i, one := range issues {
		faults[i] = fault.Field{Parameter: r.expression(one.Expression), Message: one.Text}
	}
	return r.file.refused.add(row{line: r.at, text: string(r.body), problem: r.problem}, faults)
}

// writer returns what turns resources into writes.
func (j *fhirJob) writer(rows []resource) *fhirwrite.Writer {
	now := j.Now()
	return &fhirwrite.Writer{
		Org: j.Org, Mapping: j.FHIR, Now: now, Import: true, Expected: j.expected,
		Line: func(action audit.Action, resource string) audit.Entry {
			return audit.Entry{At: now, Actor: audit.Operator, Action: action, Resource: resource}
		},
		Known: func(item int, reference string) (id.Patient, bool) {
			patientID, ok := j.known[rows[item].scope(reference)]
			return patientID, ok
		},
	}
}

// scope returns a reference as it is known in this run: a relative one means
// something else in each Bundle.
func (r *resource) scope(reference string) string {
	if r.file.bundle && !strings.Contains(reference, ":") {
		return r.file.path + "\n" + reference
	}
	return reference
}

// know notes the references to a patient.
func (j *fhirJob) know(r *resource, resourceID string, patientID id.Patient) {
	if resourceID != "" {
		j.known[r.scope("Patient/"+resourceID)] = patientID
	}
	if r.fullURL != "" {
		j.known[r.fullURL] = patientID
		if segments := strings.Split(r.fullURL, "/"); len(segments) > 2 {
			j.known[r.scope(strings.Join(segments[len(segments)-2:], "/"))] = patientID
		}
	}
}

// summary returns the result.
func (j *fhirJob) summary() Summary {
	sum := Summary{File: j.name(), Kind: FHIR}
	for _, c := range j.counts {
		sum.Read += c.Read
		sum.Imported += c.Imported
		sum.Already += c.Already
		sum.Refused += c.Refused
		sum.LeftOut += c.LeftOut
		sum.Types = append(sum.Types, *c)
	}
	slices.SortFunc(sum.Types, func(a, b TypeCount) int { return strings.Compare(a.Type, b.Type) })
	for _, f := range j.files {
		if f.refused.count > 0 && !strings.Contains(sum.Errors, f.refused.path) {
			if sum.Errors != "" {
				sum.Errors = fmt.Sprintf("%s and others", strings.TrimSuffix(sum.Errors, " and others"))
				continue
			}
			sum.Errors = f.refused.path
		}
	}
	return sum
}
