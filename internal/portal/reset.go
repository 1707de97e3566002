package portal

import (
	"crypto/sha256"
	"net/http"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/accounts"
)

// ResetLifetime is the lifetime of a password reset link.
const ResetLifetime = 24 * time.Hour

// ResetPath is the path of a reset link, to be followed by its secret part.
const ResetPath = "/portal/reset/"

type resetPage struct {
	Member accounts.Account
	Wrong  []string
}

// errReset is returned for any invalid link, whatever the reason.
var errReset = fault.New(fault.NotFound, "This link has already been used, was replaced by a newer one or has expired. Ask for a new one: an administrator can create it under Members, or the operator with “anodyne user reset”.")

func (v *visit) resetOf() (page resetPage, hash []byte, err error) {
	sum := sha256.Sum256([]byte(v.r.PathValue("link")))
	found := false
	if page.Member, found, err = v.Store.System().Reset(v.r.Context(), sum[:]); err == nil && !found {
		err = errReset
	}
	return page, sum[:], err
}

func (p *Portal) resetForm(v *visit) error {
	page, _, err := v.resetOf()
	if err != nil {
		return err
	}
	return v.show("reset", "Set a new password", page)
}

// reset sets the password. It does not sign the member in, because having the
// link proves nothing else.
func (p *Portal) reset(v *visit) error {
	page, hash, err := v.resetOf()
	if err != nil {
		return err
	}
	password := v.r.PostFormValue("password")
	if page.Wrong = checkNew(password, v.r.PostFormValue("again"), page.Member); len(page.Wrong) > 0 {
		v.status = http.StatusUnprocessableEntity
		return v.show("reset", "Set a new password", page)
	}
	kept, err := v.hash(password)
	if err != nil {
		return err
	}
	if _, err := p.Store.System().UseReset(v.r.Context(), hash, kept, v.line()); fault.Is(err, fault.NotFound) {
		return errReset
	} else if err != nil {
		return err
	}
	v.dropCookie()
	v.redirect("/portal/sign-in?password=set")
	return nil
}

// checkNew lists what is wrong with a member's new password.
func checkNew(password, again string, member accounts.Account) (wrong []string) {
	if said := CheckPassword(password, member.Email, member.Name); said != "" {
		wrong = append(wrong, said)
	}
	if password != again {
		wrong = append(wrong, "The passwords do not match.")
	}
	return wrong
}
