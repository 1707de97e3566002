package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"anodyne.example/anodyne/internal/api/openapi"
	"anodyne.example/anodyne/internal/fault"
)

// healthz says that the process runs.
func (a *API) healthz(*exchange) (answer, error) {
	return answer{status: http.StatusOK, body: []byte(`{"status":"ok"}`)}, nil
}

// readyTime is how long /readyz waits for the database; whoever asks has other
// nodes to send requests to.
const readyTime = 3 * time.Second

// readyz says that requests will be answered: the database answers, and the
// server is not about to stop.
func (a *API) readyz(x *exchange) (answer, error) {
	if a.Draining != nil && a.Draining.Err() != nil {
		return answer{}, fault.Away("The service is shutting down.", nil)
	}
	ctx, cancel := context.WithTimeout(x.ctx(), readyTime)
	defer cancel()
	if err := a.Store.Ping(ctx); err != nil {
		if fault.CodeOf(err) != fault.Unavailable {
			err = fault.Away("The database does not respond.", err)
		}
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: []byte(`{"status":"ready"}`)}, nil
}

func (a *API) openapiJSON(x *exchange) (answer, error) {
	x.h["Cache-Control"] = []string{"no-cache"}
	return answer{status: http.StatusOK, body: openapi.JSON()}, nil
}

func (a *API) openapiYAML(x *exchange) (answer, error) {
	x.h["Cache-Control"] = []string{"no-cache"}
	return answer{status: http.StatusOK, body: openapi.YAML, contentType: "application/yaml"}, nil
}

// encoded is an answer made by reflection, in the exchange's memory.
func (x *exchange) encoded(status int, v any) (answer, error) {
	buf := bytes.NewBuffer(x.buf)
	encoder := json.NewEncoder(buf)
	encoder.SetEscapeHTML(false) // this is JSON, not a page
	if err := encoder.Encode(v); err != nil {
		return answer{}, err
	}
	x.buf = bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	return answer{status: status, body: x.buf}, nil
}

// json is an answer made by reflection, for what is not asked often.
func (x *exchange) json(status int, v any) answer {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // v is made of what can be marshalled
	}
	return answer{status: status, body: body}
}
