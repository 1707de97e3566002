package portal

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/accounts"
)

// visit is one request for a page.
type visit struct {
	*Portal
	w      http.ResponseWriter
	r      *http.Request
	now    time.Time
	status int
	// Set if a member is signed in.
	member  *accounts.Account
	org     store.Org
	session []byte
	// ended is set if the browser had a session that has ended.
	ended bool
}

// page runs what every page needs: authentication and authorisation.
func (p *Portal) page(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.AnswerTime > 0 && !rt.streams {
			ctx, cancel := context.WithTimeout(r.Context(), p.AnswerTime)
			defer cancel()
			r = r.WithContext(ctx)
		}
		v := &visit{Portal: p, w: w, r: r, now: p.Now(), status: http.StatusOK}
		if err := v.admit(rt); err != nil {
			v.fail(err)
			return
		}
		if v.member == nil && !rt.open {
			v.askToSignIn(rt)
			return
		}
		if err := rt.handle(v); err != nil {
			v.fail(err)
		}
		if v.member != nil {
			v.noteHere(v.member, v.org)
		}
	})
}

// admit finds the session and checks the role.
func (v *visit) admit(rt route) error {
	cookie, err := v.r.Cookie(v.cookieName())
	if err != nil {
		return nil
	}
	hash := sha256.Sum256([]byte(cookie.Value))
	found, session, err := v.Store.System().Session(v.r.Context(), hash[:], v.SessionIdle)
	if err != nil || !found {
		v.ended = err == nil
		return err
	}
	v.member, v.session = &session.Account, hash[:]
	principal := session.Account.Principal()
	v.org = v.Store.For(&principal)
	if !rt.open && !session.Account.Role.Has(rt.role) {
		return fault.New(fault.Forbidden, "This requires the role "+rt.role.String()+"; yours is "+session.Account.Role.String()+". An administrator of your organisation can change it.")
	}
	if !rt.open && !session.Account.Role.Scopes().Has(rt.scopes) {
		return fault.New(fault.Forbidden, "Your role, "+session.Account.Role.String()+", does not include this page. An administrator of your organisation can change it.")
	}
	return nil
}

// noteHere prepares what a member may view next.
func (v *visit) noteHere(member *accounts.Account, org store.Org) {
	if member.Role.Scopes().Has(access.AnalyticsRead) {
		v.here.note(org)
	}
}

// askToSignIn redirects to the sign-in page, and from there back to the
// requested page or to the page of the submitted form. A member who was signed
// in is told that the session has ended and that a form was not saved.
func (v *visit) askToSignIn(rt route) {
	query := url.Values{}
	to := v.r.URL.RequestURI()
	if v.r.Method != http.MethodGet && v.r.Method != http.MethodHead {
		to = wildcards.ReplaceAllStringFunc(rt.form, func(name string) string { return url.PathEscape(v.r.PathValue(strings.Trim(name, "{}"))) })
	}
	if to != "" && to != "/portal/" {
		query.Set("to", to)
	}
	if v.ended {
		v.dropCookie()
		query.Set("ended", "yes")
		if rt.form != "" {
			query.Set("ended", "form")
		}
	}
	target := "/portal/sign-in"
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	v.redirect(target)
}

var wildcards = regexp.MustCompile(`\{\w+\}`)

// redirect sends the browser to another page.
func (v *visit) redirect(target string) { http.Redirect(v.w, v.r, target, http.StatusSeeOther) }

// line starts the audit entry of this visit.
func (v *visit) line() audit.Entry {
	e := audit.Entry{At: v.now, RequestID: v.w.Header().Get("X-Request-Id"), Source: v.Source(v.r).String()}
	if v.member != nil {
		e.Member = v.member.ID.String()
	}
	return e
}

// saw audits a read of patient data before it is shown.
func (v *visit) saw(action audit.Action, resource string) error {
	line := v.line()
	line.Action, line.Resource = action, resource
	return v.org.Saw(&line)
}

// may reports whether the member has a role, to decide what a page offers.
func (v *visit) may(role access.Role) bool { return v.member != nil && v.member.Role.Has(role) }

// has reports whether the member's role has these scopes.
func (v *visit) has(scopes access.Scopes) bool {
	return v.member != nil && v.member.Role.Scopes().Has(scopes)
}

// form returns a form value of a POST, trimmed.
func (v *visit) form(name string) string { return strings.TrimSpace(v.r.PostFormValue(name)) }

// fail shows an error page. Internal errors are only logged.
func (v *visit) fail(err error) {
	status, words := statusOf(err)
	f, _ := errors.AsType[*fault.Error](err)
	if f != nil {
		v.retryAfter(f.RetryAfter)
	}
	refused := f != nil && f.Code == fault.Unavailable && f.Cause == nil
	left := f == nil && errors.Is(err, context.Canceled) // nobody sees the page
	if status >= http.StatusInternalServerError && !refused && !left {
		v.Log.Error("could not show a page", "request_id", v.w.Header().Get("X-Request-Id"), "page", v.r.Pattern, "error", err)
	}
	v.status = status
	data := map[string]any{"Words": words}
	if f != nil && f.Code == fault.PatientMerged {
		data["Words"], data["MergedInto"] = "This patient was merged into another one.", f.Details["into"]
	}
	if err := v.show("error", http.StatusText(status), data); err != nil {
		v.Log.Error("could not show a page", "request_id", v.w.Header().Get("X-Request-Id"), "page", "error", "error", err)
	}
}

// retryAfter sets the Retry-After header, in whole seconds, unless wait is
// zero.
func (v *visit) retryAfter(wait time.Duration) {
	if wait > 0 {
		v.w.Header().Set("Retry-After", strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10))
	}
}

// statusOf returns the status and the message for an error.
func statusOf(err error) (status int, words string) {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok && tooLarge != nil {
		return http.StatusRequestEntityTooLarge, "The form is too large."
	}
	if errors.Is(err, errBusy) {
		return http.StatusServiceUnavailable, errBusy.Message
	}
	f, ok := errors.AsType[*fault.Error](err)
	if !ok && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)) {
		return http.StatusServiceUnavailable, "This took too long. Please try again in a moment."
	}
	if !ok {
		return http.StatusInternalServerError, "Something went wrong on our side. The error has been logged; please try again."
	}
	switch f.Code {
	case fault.Forbidden:
		status = http.StatusForbidden
	case fault.NotFound:
		status = http.StatusNotFound
	case fault.ReportExpired, fault.ExportExpired, fault.PatientMerged:
		status = http.StatusGone
	case fault.Conflict, fault.ReportNotReady, fault.ReportFailed, fault.ExportNotReady, fault.ExportFailed:
		status = http.StatusConflict
	case fault.RateLimitExceeded:
		status = http.StatusTooManyRequests
	case fault.Unavailable:
		if f.Cause == nil {
			return http.StatusServiceUnavailable, f.Message
		}
		return http.StatusServiceUnavailable, "The database is not responding. Please try again in a moment."
	case fault.InvalidParameter, fault.InvalidBody:
		status = http.StatusBadRequest
	default:
		return http.StatusInternalServerError, "Something went wrong on our side. The error has been logged; please try again."
	}
	return status, f.Message
}

func notFound(*visit) error {
	return fault.New(fault.NotFound, "There is no such page.")
}
