package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

var answerToRepeat = recordings{{Status: 201, Header: http.Header{
	"Content-Type": {"application/json"}, "Content-Length": {"7"}, "X-Ratelimit-Limit": {"100000"}}, Body: []byte(`{"a":1}`)}}

func TestFloorRepeatsTheRecording(t *testing.T) {
	in, parent := io.Pipe()
	child, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- ServeFloor(context.Background(), in, out) }()
	if err := json.NewEncoder(parent).Encode(answerToRepeat); err != nil {
		t.Fatal(err)
	}
	address, err := bufio.NewReader(child).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + strings.TrimSpace(address) + "/v1/patients"
	for _, body := range []string{"", string(creations(1)[0])} {
		var response *http.Response
		if body == "" {
			response, err = http.Get(url)
		} else {
			response, err = http.Post(url, "application/json", strings.NewReader(body))
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(response.Body)
		if err = errors.Join(err, response.Body.Close()); err != nil {
			t.Fatal(err)
		}
		response.Header.Del("Date")
		if response.StatusCode != 201 || string(got) != `{"a":1}` || !reflect.DeepEqual(response.Header, answerToRepeat[0].Header) {
			t.Errorf("got %d, %v, %s", response.StatusCode, response.Header, got)
		}
	}
	response, err := http.Post(url, "application/json", strings.NewReader("no JSON"))
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusBadRequest {
		t.Errorf("a body that is no JSON: status %d", response.StatusCode)
	}
	if err := errors.Join(response.Body.Close(), parent.Close()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the floor ended with %v", err)
	}
}

func TestFloorRefusesNonsense(t *testing.T) {
	if err := ServeFloor(context.Background(), strings.NewReader("hello"), io.Discard); err == nil {
		t.Error("no error")
	}
}

func TestPausedChildStops(t *testing.T) {
	c, err := startFloor(context.Background(), program(t), answerToRepeat)
	if err != nil {
		t.Fatal(err)
	}
	c.pause()
	if err := c.stop(); err != nil {
		t.Error(err)
	}
}

func TestFloorThatDoesNotStart(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := startFloor(ctx, program(t), answerToRepeat); err == nil {
		t.Error("no error although the context has ended")
	}
}

func TestServerLogFindsTheAddressInPieces(t *testing.T) {
	var notes []string
	log := &serverLog{serving: make(chan servingLine, 1), note: func(s string) { notes = append(notes, s) }}
	for _, piece := range []string{`{"level":"INFO","msg":"migr`, "ated\"}\n{\"level\":\"INFO\",\"msg\":\"serving\",\"url\":\"http://h:1\",\"adm",
		"in\":\"http://h:2\"}\n", `{"level":"WARN","msg":"disk"}` + "\n", "panic: oh\n"} {
		if n, err := log.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	if line := <-log.serving; line.URL != "http://h:1" || line.Admin != "http://h:2" {
		t.Errorf("got %+v", line)
	}
	if want := []string{`server: {"level":"WARN","msg":"disk"}`, "server: panic: oh"}; !reflect.DeepEqual(notes, want) {
		t.Errorf("notes %q, want %q", notes, want)
	}
}
