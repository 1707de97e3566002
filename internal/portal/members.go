package portal

import (
	"net/http"

	"anodyne/internal/access"
	"anodyne/internal/fault"
	"anodyne/internal/id"
	"anodyne/internal/store"
)

type membersPage struct {
	Members []store.Account
	Self    id.User
	// Link is an invitation that was just made, and shown once.
	Link     string
	LinkRole access.Role
}

func (p *Portal) members(v *visit) error { return v.showMembers(membersPage{}) }

func (v *visit) showMembers(page membersPage) (err error) {
	if page.Members, err = v.org.Accounts(v.r.Context()); err != nil {
		return err
	}
	page.Self = v.member.ID
	return v.show("members", "Members", page)
}

func (p *Portal) invite(v *visit) error {
	role, err := access.ParseRole(v.form("role"))
	if err != nil {
		return fault.New(fault.InvalidParameter, "The role is unknown.")
	}
	link, hash := newLink()
	if err := v.org.Invite(v.r.Context(), hash, role, inviteLifetime, v.line()); err != nil {
		return err
	}
	v.status = http.StatusCreated
	return v.showMembers(membersPage{Link: v.baseURL() + "/portal/join/" + link, LinkRole: role})
}

func (p *Portal) changeMember(v *visit) error {
	userID, err := id.Parse[id.UserKind](v.r.PathValue("id"))
	if err != nil {
		return fault.Missing("member", "")
	}
	switch act := v.form("act"); act {
	case "role":
		role, parseErr := access.ParseRole(v.form("role"))
		if parseErr != nil {
			return fault.New(fault.InvalidParameter, "The role is unknown.")
		}
		err = v.org.SetRole(v.r.Context(), userID, role, v.line())
	case "disable", "enable":
		err = v.org.SetDisabled(v.r.Context(), userID, act == "disable", v.line())
	default:
		err = fault.New(fault.InvalidParameter, "Nothing was asked for.")
	}
	if err != nil {
		return err
	}
	v.redirect("/portal/members")
	return nil
}

type accountPage struct {
	Wrong []string
}

func (p *Portal) account(v *visit) error { return v.show("account", "Your account", accountPage{}) }

// changePassword wants the old password, so that a browser left open is not
// enough, and signs out everywhere.
func (p *Portal) changePassword(v *visit) error {
	var page accountPage
	password := v.r.PostFormValue("password")
	if !passwordMatches(v.member.PasswordHash, v.r.PostFormValue("old")) {
		page.Wrong = append(page.Wrong, "The old password is wrong.")
	}
	if said := CheckPassword(password, v.member.Email, v.member.Name); said != "" {
		page.Wrong = append(page.Wrong, said)
	}
	if password != v.r.PostFormValue("again") {
		page.Wrong = append(page.Wrong, "The two new passwords are not the same.")
	}
	if len(page.Wrong) > 0 {
		v.status = http.StatusUnprocessableEntity
		return v.show("account", "Your account", page)
	}
	if err := v.org.SetPassword(v.r.Context(), v.member.ID, HashPassword(password), v.line()); err != nil {
		return err
	}
	v.redirect("/portal/sign-in")
	return nil
}
