package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"anodyne.example/anodyne/internal/api/openapi"
	"anodyne.example/anodyne/internal/fault"
)

// healthz reports that the process is running.
func (a *API) healthz(*exchange) (answer, error) {
	return answer{status: http.StatusOK, body: []byte(`{"status":"ok"}`)}, nil
}

// readyz reports whether the node can serve requests: the database responds,
// and the server is not about to stop. A node that can serve only some
// organisations is ready, because another node could not serve more.
func (a *API) readyz(x *exchange) (answer, error) {
	if a.Draining != nil && a.Draining.Err() != nil {
		return answer{}, fault.Away("The service is shutting down.", nil)
	}
	ctx := x.ctx()
	if a.ReadyTime != 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.ReadyTime)
		defer cancel()
	}
	if err := a.Store.Ping(ctx); err != nil {
		if fault.CodeOf(err) != fault.Unavailable {
			err = fault.Away("The database does not respond.", err)
		}
		return answer{}, err
	}
	if a.Store.Degraded() {
		return answer{status: http.StatusOK, body: []byte(`{"status":"degraded"}`)}, nil
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

// encoded returns a response encoded by reflection into the exchange's buffer.
func (x *exchange) encoded(status int, v any) (answer, error) {
	buf := bytes.NewBuffer(x.buf)
	encoder := json.NewEncoder(buf)
	encoder.SetEscapeHTML(false) // JSON, not HTML
	if err := encoder.Encode(v); err != nil {
		return answer{}, err
	}
	x.buf = bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	return answer{status: status, body: x.buf}, nil
}

// json returns a response encoded by reflection, for infrequent requests.
func (x *exchange) json(status int, v any) answer {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // v can always be marshalled
	}
	return answer{status: status, body: body}
}
