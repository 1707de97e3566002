package portal

import (
	"crypto/sha256"
	"net/http"
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/ratelimit"
	"anodyne.example/anodyne/internal/store/accounts"
)

// FirstLinkLifetime is the lifetime of the link of a new installation.
const FirstLinkLifetime = 24 * time.Hour

// inviteLifetime is the lifetime of a member's invitation.
const inviteLifetime = 7 * 24 * time.Hour

// NewLink returns the secret part of a link to /portal/join/ and the hash
// under which it is stored.
func NewLink() (text string, hash []byte) { return newLink() }

type joinPage struct {
	Invitation  accounts.Invitation
	Email, Name string
	Wrong       []string
}

// errLink is returned for any invalid link, whatever the reason.
var errLink = fault.New(fault.NotFound, "This link has already been used or has expired. Ask for a new one: an administrator can create it under Members, or the operator with “anodyne user create”.")

func (v *visit) invitation() (accounts.Invitation, []byte, error) {
	hash := sha256.Sum256([]byte(v.r.PathValue("link")))
	inv, found, err := v.Store.System().Invitation(v.r.Context(), hash[:])
	if err == nil && !found {
		err = errLink
	}
	return inv, hash[:], err
}

func (p *Portal) joinForm(v *visit) error {
	inv, _, err := v.invitation()
	if err != nil {
		return err
	}
	return v.show("join", "Create your account", joinPage{Invitation: inv})
}

func (p *Portal) join(v *visit) error {
	inv, hash, err := v.invitation()
	if err != nil {
		return err
	}
	page := joinPage{Invitation: inv, Email: strings.ToLower(v.form("email")), Name: v.form("name")}
	password := v.r.PostFormValue("password")
	page.Wrong = CheckMember(page.Email, page.Name, password)
	if password != v.r.PostFormValue("again") {
		page.Wrong = append(page.Wrong, "The passwords do not match.")
	}
	if len(page.Wrong) == 0 {
		n := accounts.NewAccount{Email: page.Email, Name: page.Name}
		if n.PasswordHash, err = v.hash(password); err != nil {
			return err
		}
		member, err := p.Store.System().Join(v.r.Context(), hash, n, v.line())
		switch {
		case err == nil:
			if err := v.begin(&member, accounts.SignInTry{EmailHash: emailHash(page.Email), Network: ratelimit.NetworkOf(v.Source(v.r)).String()}); err != nil {
				return err
			}
			v.redirect("/portal/")
			return nil
		case fault.Is(err, fault.NotFound):
			return errLink
		case !fault.Is(err, fault.Conflict):
			return err
		}
		_, words := statusOf(err)
		page.Wrong = []string{words}
	}
	v.status = http.StatusUnprocessableEntity
	return v.show("join", "Create your account", page)
}

// CheckMember lists what is wrong with a new member. email must be in lower
// case.
func CheckMember(email, name, password string) (wrong []string) {
	if at, err := mail.ParseAddress(email); err != nil || at.Address != email || at.Name != "" || len(email) > 254 || email != strings.ToLower(email) {
		wrong = append(wrong, "The e-mail address is not valid.")
	}
	if n := utf8.RuneCountInString(name); n < 1 || n > 100 || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		wrong = append(wrong, "The name must have 1 to 100 characters.")
	}
	if said := CheckPassword(password, email, name); said != "" {
		wrong = append(wrong, said)
	}
	return wrong
}
