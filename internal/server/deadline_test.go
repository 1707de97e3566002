package server

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/oauth"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// A request that takes longer than the time for a response gets a 503: the
// connection is not closed without one.
func TestNoAnswerIsCutOff(t *testing.T) {
	t.Parallel()
	slow := limits
	slow.answer = 50 * time.Millisecond
	s := serveWith(t, slow, "--cohort-memory", "0") // nobody fits into memory
	_, hash := oauth.NewSecret()
	client, err := s.Store().System().CreateClient(t.Context(), clients.NewClient{Org: "general", Name: "test", Tier: access.Enterprise, Scopes: access.AllScopes, SecretHash: hash})
	if err != nil {
		t.Fatal(err)
	}
	principal := storetest.Client(t, s.Store(), "general")
	org := s.Store().For(&principal)
	const patients, writers, callers = 2048, 128, 24
	var running sync.WaitGroup
	for range writers {
		running.Go(func() {
			for range patients / writers {
				storetest.AddPatient(t, org, "Anna")
			}
		})
	}
	running.Wait()
	grant, err := oauth.New(s.Store(), time.Now).Issue(t.Context(), &client, "")
	if err != nil {
		t.Fatal(err)
	}
	statuses := make(chan int, 3*callers)
	for i := range callers {
		for _, path := range []string{"/v1/analytics/outcomes?age_min=", "/v1/analytics/population-health?age_min=", "/v1/patients?search="} {
			running.Go(func() {
				status, err := get(s.URL()+path+url.QueryEscape(fmt.Sprint(i)), grant.Token)
				if err != nil {
					t.Errorf("%s%d: %v", path, i, err)
				}
				statuses <- status
			})
		}
	}
	running.Wait()
	close(statuses)
	count := map[int]int{}
	for status := range statuses {
		count[status]++
	}
	t.Logf("answers by status: %v", count)
}

// get returns the status of a response, which must be 200, or 503 with
// Retry-After.
func get(address, token string) (int, error) {
	request, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if _, err := io.ReadAll(answer.Body); err != nil {
		return answer.StatusCode, err
	}
	wait, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
	if answer.StatusCode != http.StatusOK && (answer.StatusCode != http.StatusServiceUnavailable || wait < 1) {
		return answer.StatusCode, fmt.Errorf("status %d, Retry-After %d", answer.StatusCode, wait)
	}
	return answer.StatusCode, nil
}
