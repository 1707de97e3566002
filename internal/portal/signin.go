package portal

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/accounts"
)

// cookieName has the prefix that makes browsers require TLS, if TLS is used.
func (v *visit) cookieName() string {
	if v.Dev {
		return "anodyne-session"
	}
	return "__Host-anodyne-session"
}

// newLink returns 256 random bits and their hash, for a cookie or a link.
func newLink() (text string, hash []byte) {
	var bits [32]byte
	rand.Read(bits[:])
	text = base64.RawURLEncoding.EncodeToString(bits[:])
	sum := sha256.Sum256([]byte(text))
	return text, sum[:]
}

func (p *Portal) signInForm(v *visit) error {
	if v.member != nil {
		v.redirect("/portal/")
		return nil
	}
	query := v.r.URL.Query()
	page := p.signInPage(query.Get("to"), query.Get("ended"))
	page.PasswordSet = query.Get("password") == "set"
	return v.show("sign-in", "Sign in", page)
}

// signInPage is the sign-in form. Ended says why a signed-in member sees it
// again.
type signInPage struct {
	Email, To, Wrong string
	Ended            string
	PasswordSet      bool
	Idle, Lifetime   string
}

func (p *Portal) signInPage(to, ended string) signInPage {
	return signInPage{To: to, Ended: ended, Idle: inWords(p.SessionIdle), Lifetime: inWords(p.SessionLifetime)}
}

func (p *Portal) signIn(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return fault.New(fault.InvalidBody, "The form could not be read.")
	}
	page := p.signInPage(v.form("to"), "")
	page.Email = strings.ToLower(v.form("email"))
	refuse := func(status int, words string) error {
		page.Wrong, v.status = words, status
		return v.show("sign-in", "Sign in", page)
	}
	sys, ctx := p.Store.System(), v.r.Context()
	var member accounts.Account
	var found bool
	right, try, err := v.guess(page.Email, v.r.PostFormValue("password"), func() (kept string, err error) {
		if member, found, err = sys.AccountByEmail(ctx, page.Email); err != nil || !found || !member.DisabledAt.IsZero() {
			return nobody, err
		}
		return member.PasswordHash, nil
	})
	if status, words := v.refusedFor(err); status != 0 {
		return refuse(status, words)
	} else if err != nil {
		return err
	}
	if right {
		// Fails if the password was changed, or the member disabled, in the
		// meantime.
		if err := v.begin(&member, try); !fault.Is(err, fault.Unauthorized) {
			if err == nil {
				v.redirect(localPath(page.To))
			}
			return err
		}
	}
	var of *accounts.Account
	if found {
		of = &member
	}
	if err := sys.RefuseTry(ctx, try, of, v.line()); err != nil {
		return err
	}
	return refuse(http.StatusUnauthorized, "The e-mail address or the password is wrong.")
}

// emailHash returns the key under which attempts for an e-mail address are
// counted.
func emailHash(email string) []byte {
	sum := sha256.Sum256([]byte(email))
	return sum[:]
}

// begin signs a member in with a new session, regardless of any cookie in the
// request.
func (v *visit) begin(member *accounts.Account, try accounts.SignInTry) error {
	cookie, hash := newLink()
	if err := v.Store.System().SignIn(v.r.Context(), member, try, hash, v.SessionLifetime, v.line()); err != nil {
		return err
	}
	http.SetCookie(v.w, &http.Cookie{
		Name: v.cookieName(), Value: cookie, Path: "/", HttpOnly: true, Secure: !v.Dev, SameSite: http.SameSiteLaxMode,
	})
	v.noteHere(member, v.Store.For(new(member.Principal())))
	return nil
}

// localPath returns the page to show after signing in. It ignores URLs outside
// the portal.
func localPath(to string) string {
	if !strings.HasPrefix(to, "/portal/") || strings.ContainsAny(to, "\\\r\n") || strings.HasPrefix(to, "/portal/sign-") {
		return "/portal/"
	}
	return to
}

func (p *Portal) signOut(v *visit) error {
	everywhere := v.form("everywhere") == "yes"
	if err := v.org.EndSession(v.r.Context(), v.member.No, v.session, everywhere, v.line()); err != nil {
		return err
	}
	v.dropCookie()
	v.redirect("/portal/sign-in")
	return nil
}

func (v *visit) dropCookie() {
	http.SetCookie(v.w, &http.Cookie{Name: v.cookieName(), Path: "/", MaxAge: -1, HttpOnly: true, Secure: !v.Dev, SameSite: http.SameSiteLaxMode})
}

// inWords rounds a duration up and formats it for people.
func inWords(d time.Duration) string {
	if d <= time.Minute {
		return plural(int64((d+time.Second-1)/time.Second), "second")
	}
	if d%time.Hour == 0 {
		return plural(int64(d/time.Hour), "hour")
	}
	return plural(int64((d+time.Minute-1)/time.Minute), "minute")
}

func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%s %ss", number(n), word)
}
