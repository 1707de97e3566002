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

	"anodyne/internal/access"
	"anodyne/internal/config"
	"anodyne/internal/portal"
	"anodyne/internal/store"
)

func runUser(ctx context.Context, e env, args []string) error {
	return dispatch(ctx, args, e, "anodyne user", []command{
		{"create", "make a member of an organisation, who signs in to the portal", userCreate},
		{"list", "list the members of all organisations", userList},
	})
}

func userCreate(ctx context.Context, e env, args []string) error {
	var cfg config.Config
	fs := flags(e, "user create", "user create --email ADDRESS --name NAME [flags] <PASSWORD-FILE\n\n"+
		"Makes a member who signs in to the portal. The password is read from standard input,\none line, so that it is not seen by others on this machine.")
	cfg.Store(fs)
	email := fs.String("email", "", "e-mail `address` to sign in with (required)")
	name := fs.String("name", "", "`name` of the member (required)")
	org := fs.String("organization", "default", "`name` of the organisation; made when missing")
	role := fs.String("role", access.Administrator.String(), "viewer, developer or administrator")
	if _, err := parse(e, fs, args, 0); err != nil {
		return err
	}
	n := store.NewAccount{Email: strings.ToLower(strings.TrimSpace(*email)), Name: strings.TrimSpace(*name)}
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
	s, err := openStore(ctx, cfg)
	if err != nil {
		return err
	}
	made, err := s.System().CreateAccount(ctx, strings.TrimSpace(*org), n)
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "%s is %s of %s and can sign in at /portal.\n", made.Email, made.Role, made.OrgName)
	return err
}

// readPassword reads the first line of standard input.
func readPassword(e env) (string, error) {
	if f, ok := e.stdin.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			fmt.Fprint(e.stderr, "Password (it is shown as you type; a file is better): ")
		}
	}
	line, err := bufio.NewReader(io.LimitReader(e.stdin, 4<<10)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("password: %w", err)
	}
	password := strings.TrimRight(line, "\r\n")
	if password == "" {
		return "", errors.New("the password is read from standard input, and there was none")
	}
	return password, nil
}

func userList(ctx context.Context, e env, args []string) error {
	var cfg config.Config
	fs := flags(e, "user list", "user list [flags]")
	cfg.Store(fs)
	if _, err := parse(e, fs, args, 0); err != nil {
		return err
	}
	s, err := openStore(ctx, cfg)
	if err != nil {
		return err
	}
	members, err := s.System().Accounts(ctx)
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ORGANISATION\tE-MAIL\tNAME\tROLE\tSTATE")
	for _, m := range members {
		state := "active"
		if !m.DisabledAt.IsZero() {
			state = "disabled"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", m.OrgName, m.Email, m.Name, m.Role, state)
	}
	return w.Flush()
}
