package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/portal"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/accounts"
)

func runUser(ctx context.Context, e cli.Env, args []string) error {
	return cli.Dispatch(ctx, e, "user", args, userCommands())
}

func userCommands() []cli.Command {
	return []cli.Command{
		{Name: "create", Summary: "create a member of an organisation", Run: userCreate},
		{Name: "list", Summary: "list the members of all organisations", Run: userList},
		{Name: "reset", Summary: "create a link for setting a new password", Run: userReset},
		{Name: "role", Summary: "change the role of a member", Run: userRole},
		{Name: "disable", Summary: "disable a member", Run: userDisable},
		{Name: "enable", Summary: "enable a disabled member", Run: userEnable},
	}
}

func userCreate(ctx context.Context, e cli.Env, args []string) error {
	c := newStoreCommand(e, "user", "create", "create --email ADDRESS --name NAME [flags] <PASSWORD-FILE\n\n"+
		"Creates a member of an organisation, who can sign in to the portal. The password is read from\nthe first line of standard input, so that other users of this machine cannot see it.\nCreates the database if it does not exist.")
	c.open = createStore
	fs := c.fs
	email := fs.String("email", "", "e-mail `address` for signing in (required)")
	name := fs.String("name", "", "`name` of the member (required)")
	org := fs.String("organization", "default", "`name` of the organisation, which is created if it does not exist")
	role := fs.String("role", access.Administrator.String(), "viewer, developer or administrator")
	if _, err := cli.Parse(e, fs, args, 0); err != nil {
		return err
	}
	n := accounts.NewAccount{Email: address(*email), Name: strings.TrimSpace(*name)}
	var errs []error
	var err error
	if n.Role, err = access.ParseRole(*role); err != nil {
		errs = append(errs, fmt.Errorf("--role: %w", err))
	}
	if strings.TrimSpace(*org) == "" {
		errs = append(errs, errors.New("--organization: must not be empty"))
	}
	password, err := readPassword(e)
	if err != nil {
		return err
	}
	for _, said := range portal.CheckMember(n.Email, n.Name, password) {
		errs = append(errs, errors.New(said))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	n.PasswordHash = portal.HashPassword(password)
	return c.run(ctx, func(s store.System) (any, func(io.Writer), error) {
		made, err := s.CreateAccount(ctx, strings.TrimSpace(*org), n)
		return viewOfUser(made), func(w io.Writer) {
			fmt.Fprintf(w, "%s is %s of %s and can sign in at /portal.\n", made.Email, made.Role, made.OrgName)
		}, err
	})
}

// readPassword reads the first line of standard input.
func readPassword(e cli.Env) (string, error) {
	if f, ok := e.Stdin.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			fmt.Fprint(e.Stderr, "Password (visible as you type; to avoid that, redirect it from a file): ")
		}
	}
	line, err := bufio.NewReader(io.LimitReader(e.Stdin, 4<<10)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("password: %w", err)
	}
	password := strings.TrimRight(line, "\r\n")
	if password == "" {
		return "", errors.New("no password on standard input")
	}
	return password, nil
}

// userView is a member as printed by the commands.
type userView struct {
	UserID       string     `json:"user_id"`
	Organization string     `json:"organization"`
	Email        string     `json:"email"`
	Name         string     `json:"name"`
	Role         string     `json:"role"`
	Disabled     bool       `json:"disabled"`
	CreatedAt    time.Time  `json:"created_at"`
	SignedInAt   *time.Time `json:"signed_in_at"`
}

func viewOfUser(a accounts.Account) userView {
	return userView{UserID: a.ID.String(), Organization: a.OrgName, Email: a.Email, Name: a.Name, Role: a.Role.String(), Disabled: !a.DisabledAt.IsZero(),
		CreatedAt: a.CreatedAt.UTC().Truncate(time.Second), SignedInAt: momentOrNil(a.SignedInAt)}
}

func userList(ctx context.Context, e cli.Env, args []string) error {
	return runList(ctx, e, args, "user", store.System.Accounts, viewOfUser, printUsers)
}

func printUsers(w io.Writer, views []userView) {
	table := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "ORGANISATION\tE-MAIL\tNAME\tROLE\tSTATE")
	for _, v := range views {
		state := "active"
		if v.Disabled {
			state = "disabled"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", v.Organization, v.Email, v.Name, v.Role, state)
	}
	_ = table.Flush() // nothing to do if the terminal is gone
}

func userReset(ctx context.Context, e cli.Env, args []string) error {
	c := newStoreCommand(e, "user", "reset", "reset EMAIL [flags]\n\n"+
		"Creates a link for setting a new password. It works once, within 24 hours; earlier links\nof the member stop working. "+
		"The link starts with --base-url, or with the address given by\n--listen and --tls-cert: use the same values as the server.")
	c.cfg.Links(c.fs)
	words, err := cli.Parse(e, c.fs, args, 1)
	if err != nil {
		return err
	}
	base, err := c.cfg.PublicURL()
	if err != nil {
		return err
	}
	secret, hash := portal.NewLink()
	return c.run(ctx, func(s store.System) (any, func(io.Writer), error) {
		a, err := s.MakeReset(ctx, address(words[0]), hash, portal.ResetLifetime)
		link, ends := base+portal.ResetPath+secret, time.Now().Add(portal.ResetLifetime).UTC().Truncate(time.Second)
		return map[string]any{"email": a.Email, "link": link, "expires_at": ends}, func(w io.Writer) {
			fmt.Fprintf(w, "%s\n", link)
			fmt.Fprintf(e.Stderr, "The link sets a new password for %s. It works once, within 24 hours.\n", a.Email)
		}, err
	})
}

// address returns an e-mail address in its canonical form.
func address(word string) string { return strings.ToLower(strings.TrimSpace(word)) }

func userRole(ctx context.Context, e cli.Env, args []string) error {
	c := newStoreCommand(e, "user", "role", "role EMAIL ROLE [flags]\n\nROLE is viewer, developer or administrator. Ends the member's sessions.")
	words, err := cli.Parse(e, c.fs, args, 2)
	if err != nil {
		return err
	}
	role, err := access.ParseRole(words[1])
	if err != nil {
		return err
	}
	return c.run(ctx, func(s store.System) (any, func(io.Writer), error) {
		a, applications, err := s.SetRole(ctx, address(words[0]), role)
		return map[string]any{"email": a.Email, "role": role.String(), "live_applications": applications}, func(w io.Writer) {
			fmt.Fprintf(w, "%s is now %s\n", a.Email, role)
			printApplications(w, applications)
		}, err
	})
}

func userDisable(ctx context.Context, e cli.Env, args []string) error {
	return userState(ctx, e, args, "disable", true, "Prevents a member from signing in, and ends the member's sessions immediately.")
}

func userEnable(ctx context.Context, e cli.Env, args []string) error {
	return userState(ctx, e, args, "enable", false, "Allows a disabled member to sign in again.")
}

func userState(ctx context.Context, e cli.Env, args []string, name string, disabled bool, about string) error {
	c := newStoreCommand(e, "user", name, name+" EMAIL [flags]\n\n"+about)
	words, err := cli.Parse(e, c.fs, args, 1)
	if err != nil {
		return err
	}
	return c.run(ctx, func(s store.System) (any, func(io.Writer), error) {
		a, applications, err := s.SetDisabled(ctx, address(words[0]), disabled)
		return map[string]any{"email": a.Email, "disabled": disabled, "live_applications": applications}, func(w io.Writer) {
			fmt.Fprintf(w, "%s is %sd\n", a.Email, name)
			if disabled {
				printApplications(w, applications)
			}
		}, err
	})
}

// printApplications warns that a member may still know secrets.
func printApplications(w io.Writer, live int64) {
	if live > 0 {
		fmt.Fprintf(w, "The member registered active applications (%d) and may know their secrets; rotate them (see anodyne client list --json).\n", live)
	}
}
