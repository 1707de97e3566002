package bench

import "net/http"

// mixedPath is a mixed workload: eight of ten requests read and two write, on
// the same connections. Latencies of reads and writes are recorded separately.
var mixedPath = func() path {
	get, list, page, post := findIn(patientPaths, "get"), findIn(patientPaths, "list"), findIn(clinicalPaths, "range"), findIn(patientPaths, "post")
	return path{name: "mixed", title: "mixed, 80 % reads", reads: true,
		mix: []*path{get, page, get, list, post, get, page, get, get, oneRecord}}
}()

// oneRecord is the smallest write of clinical data.
var oneRecord = &path{name: "record", title: "POST 1 record", method: http.MethodPost, expect: http.StatusCreated,
	bodies: func() [][]byte {
		bodies := make([][]byte, batchVariants)
		for n := range bodies {
			bodies[n] = batch(n, 1)
		}
		return bodies
	},
	target: func(b []byte, s *stock, n int) []byte {
		return append(s.patients[scatter(n)%len(s.patients)].Append(append(b, "/v1/patients/"...)), "/clinical-data"...)
	}}
