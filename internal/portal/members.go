package portal

import (
	"net/http"
	"strconv"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/accounts"
)

type membersPage struct {
	Members []accounts.Account
	Self    id.User
	// Link is a new invitation, shown once.
	Link     string
	LinkRole access.Role
	// Reset is a link with which ResetOf can set a new password, shown once.
	Reset   string
	ResetOf accounts.Account
	// Applications is the number of active applications registered by a member
	// who was just disabled or given another role.
	Applications int64
}

func (p *Portal) members(v *visit) error {
	applications, _ := strconv.ParseInt(v.r.URL.Query().Get("applications"), 10, 64)
	return v.showMembers(membersPage{Applications: max(0, applications)})
}

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
	userID, err := pathID[id.UserKind](v, "id", "member")
	if err != nil {
		return err
	}
	applications := int64(0)
	switch act := v.form("act"); act {
	case "role":
		role, parseErr := access.ParseRole(v.form("role"))
		if parseErr != nil {
			return fault.New(fault.InvalidParameter, "The role is unknown.")
		}
		applications, err = v.org.SetRole(v.r.Context(), userID, role, v.line())
	case "disable":
		applications, err = v.org.SetDisabled(v.r.Context(), userID, true, v.line())
	case "enable":
		_, err = v.org.SetDisabled(v.r.Context(), userID, false, v.line())
	case "reset":
		return v.makeReset(userID)
	default:
		err = fault.New(fault.InvalidParameter, "The action is unknown.")
	}
	if err != nil {
		return err
	}
	target := "/portal/members"
	if applications > 0 {
		target += "?applications=" + strconv.FormatInt(applications, 10)
	}
	v.redirect(target)
	return nil
}

// makeReset shows a link for setting a member's new password. Members cannot
// create one for themselves, because then an unattended browser would be
// enough to take over the account.
func (v *visit) makeReset(userID id.User) error {
	if userID == v.member.ID {
		return fault.New(fault.InvalidParameter, "Change your own password under Your account.")
	}
	link, hash := newLink()
	member, err := v.org.MakeReset(v.r.Context(), userID, hash, ResetLifetime, v.line())
	if err != nil {
		return err
	}
	v.status = http.StatusCreated
	return v.showMembers(membersPage{Reset: v.baseURL() + ResetPath + link, ResetOf: member})
}

type accountPage struct {
	Wrong []string
}

func (p *Portal) account(v *visit) error { return v.show("account", "Your account", accountPage{}) }

// changePassword requires the old password, so that an unattended browser is
// not enough, and ends all sessions. A wrong old password counts as a guess.
func (p *Portal) changePassword(v *visit) error {
	var page accountPage
	refuse := func(status int) error {
		v.status = status
		return v.show("account", "Your account", page)
	}
	password := v.r.PostFormValue("password")
	if page.Wrong = checkNew(password, v.r.PostFormValue("again"), *v.member); len(page.Wrong) > 0 {
		return refuse(http.StatusUnprocessableEntity)
	}
	right, try, err := v.guess(v.member.Email, v.r.PostFormValue("old"), func() (string, error) { return v.member.PasswordHash, nil })
	if status, words := v.refusedFor(err); status != 0 {
		page.Wrong = []string{words}
		return refuse(status)
	} else if err != nil {
		return err
	}
	if !right {
		if err := p.Store.System().RefuseTry(v.r.Context(), try, v.member, v.line()); err != nil {
			return err
		}
		page.Wrong = []string{"The current password is incorrect."}
		return refuse(http.StatusUnprocessableEntity)
	}
	hash, err := v.hash(password)
	if err != nil {
		return err
	}
	if err := v.org.SetPassword(v.r.Context(), v.member, hash, try, v.line()); err != nil {
		return err
	}
	v.redirect("/portal/sign-in?password=set")
	return nil
}
