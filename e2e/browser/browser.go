// Package browser drives a headless Chromium, for tests and screenshots of the
// portal. It records every request, so that a test can verify that none went
// to another host.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// patience limits one step, with a margin for busy machines.
const patience = 5 * time.Minute

// Find returns the path of the browser. The one without a window comes first,
// because it needs a fraction of the processor time.
func Find() (path string, err error) {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err = exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no Chromium is installed")
}

// Browser is a browser window with its own cookies.
type Browser struct {
	ctx    context.Context
	cancel context.CancelFunc

	mu       sync.Mutex
	requests []string
	dialogs  []string
}

// Open starts a browser. The caller must Close it.
func Open(ctx context.Context, path, profile string) (*Browser, error) {
	ctx, stop := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoSandbox, chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true))...)
	ctx, end := chromedp.NewContext(ctx)
	b := &Browser{ctx: ctx, cancel: func() { end(); stop() }}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		b.cancel()
		return nil, fmt.Errorf("start Chromium: %w", err)
	}
	sent := chromedp.Events(ctx, network.RequestWillBeSent)
	go func() {
		for event, err := range sent {
			if err != nil {
				return
			}
			b.mu.Lock()
			b.requests = append(b.requests, event.Request.URL)
			b.mu.Unlock()
		}
	}()
	opened := chromedp.Events(ctx, page.JavascriptDialogOpening)
	go func() {
		for event, err := range opened {
			if err != nil {
				return
			}
			b.mu.Lock()
			b.dialogs = append(b.dialogs, event.Message)
			b.mu.Unlock()
			// The page is blocked while the dialog is open.
			if _, err := chromedp.Call(ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true}); err != nil {
				return
			}
		}
	}()
	return b, nil
}

// Close ends the browser.
func (b *Browser) Close() { b.cancel() }

// Requests lists the URLs requested so far.
func (b *Browser) Requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.requests...)
}

// Dialogs lists the messages of alerts and other dialogs so far.
func (b *Browser) Dialogs() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.dialogs...)
}

// Keys presses keys in the focused element.
func (b *Browser) Keys(keys string) error { return b.do("keys", chromedp.KeyEvent(keys)) }

// do runs steps within the time limit.
func (b *Browser) do(what string, steps ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// value runs a step that returns a value.
func value[T any](b *Browser, what string, step chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, step)
	if err != nil {
		err = fmt.Errorf("%s: %w", what, err)
	}
	return v, err
}

// Go opens a page.
func (b *Browser) Go(url string) error { return b.do("go to "+url, chromedp.Navigate(url)) }

// Wait waits until an element is visible.
func (b *Browser) Wait(selector string) error {
	return b.do("wait for "+selector, chromedp.WaitVisible(chromedp.CSS(selector)))
}

// Fill replaces the text of a field.
func (b *Browser) Fill(selector, text string) error {
	if err := b.Wait(selector); err != nil {
		return err
	}
	if _, err := Evaluate[string](b, fmt.Sprintf(`document.querySelector(%q).value = ""`, selector)); err != nil {
		return err
	}
	return b.do("fill "+selector, chromedp.SendKeys(chromedp.CSS(selector), text))
}

// Choose selects an option of a list by its value.
func (b *Browser) Choose(selector, option string) error {
	return b.do("choose "+option, chromedp.SetValue(chromedp.CSS(selector), option))
}

// Click clicks an element that leads to another page, and waits for that page.
func (b *Browser) Click(selector string) error {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, chromedp.Click(chromedp.CSS(selector))); err != nil {
		return fmt.Errorf("click %s: %w", selector, err)
	}
	return nil
}

// Press clicks an element that stays on the page, such as a checkbox.
func (b *Browser) Press(selector string) error {
	return b.do("press "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// Text returns the text of an element.
func (b *Browser) Text(selector string) (string, error) {
	text, err := value(b, "text of "+selector, chromedp.TextContent(chromedp.CSS(selector)))
	return strings.TrimSpace(text), err
}

// Page returns the text of the whole page.
func (b *Browser) Page() (string, error) {
	return value(b, "the page", chromedp.Evaluate[string](`document.body.innerText`))
}

// Location returns the URL of the page.
func (b *Browser) Location() (string, error) {
	return value(b, "location", chromedp.Evaluate[string](`location.href`))
}

// Evaluate runs a script in the page and returns its result, awaiting
// promises.
func Evaluate[T any](b *Browser, script string) (T, error) {
	return value(b, "script", chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
}

// Look sets the window size and the theme.
func (b *Browser) Look(width, height int64, dark bool) error {
	theme := "light"
	if dark {
		theme = "dark"
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: theme},
			{Name: "prefers-reduced-motion", Value: "reduce"}, // a transition between colours would fail the contrast rules
		},
	}); err != nil {
		return err
	}
	return b.do("size", chromedp.EmulateViewport(width, height))
}

// Picture returns a screenshot of the whole page as PNG.
func (b *Browser) Picture() ([]byte, error) { return value(b, "picture", chromedp.FullScreenshot(100)) }
