package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/figure"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/oauth"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/clients"
)

func runClient(ctx context.Context, e cli.Env, args []string) error {
	return cli.Dispatch(ctx, e, "client", args, clientCommands())
}

func clientCommands() []cli.Command {
	return []cli.Command{
		{Name: "create", Summary: "register an application and print its ID and secret", Run: clientCreate},
		{Name: "list", Summary: "list clients", Run: clientList},
		{Name: "rotate", Summary: "create a new secret for a client; the old one stays valid for a while", Run: clientRotate},
		{Name: "keys", Summary: "list, add and remove the public keys of a client", Run: clientKeys},
		{Name: "revoke", Summary: "revoke a client and all its tokens", Run: clientRevoke},
		{Name: "tier", Summary: "change the rate-limit tier of a client", Run: clientTier},
	}
}

// storeCommand holds what the commands that change clients and members share.
type storeCommand struct {
	cfg  config.Config
	fs   *flag.FlagSet
	json *bool
	e    cli.Env
	open func(context.Context, config.Config) (*store.Store, error)
}

func newStoreCommand(e cli.Env, group, name, synopsis string) *storeCommand {
	c := &storeCommand{fs: cli.Flags(e, group+" "+name, group+" "+synopsis), e: e, open: openStore}
	c.cfg.Store(c.fs)
	c.json = c.fs.Bool("json", false, "print only JSON")
	return c
}

// run opens the database, calls fn with it, and prints the result.
func (c *storeCommand) run(ctx context.Context, fn func(store.System) (any, func(io.Writer), error)) error {
	s, err := c.open(ctx, c.cfg)
	if err != nil {
		return err
	}
	value, text, err := fn(s.System())
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	if *c.json {
		encoder := json.NewEncoder(c.e.Stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(value)
	}
	text(c.e.Stdout)
	return nil
}

// runList runs the list command of a group: it reads everything in the list and
// prints a view of each.
func runList[T, V any](ctx context.Context, e cli.Env, args []string, group string,
	read func(store.System, context.Context) ([]T, error), view func(T) V, print func(io.Writer, []V)) error {
	c := newStoreCommand(e, group, "list", "list [flags]")
	if _, err := cli.Parse(e, c.fs, args, 0); err != nil {
		return err
	}
	return c.run(ctx, func(s store.System) (any, func(io.Writer), error) {
		list, err := read(s, ctx)
		views := make([]V, 0, len(list))
		for _, item := range list {
			views = append(views, view(item))
		}
		return views, func(w io.Writer) { print(w, views) }, err
	})
}

// parse parses the command line of a command that takes a client as its first
// argument.
func (c *storeCommand) parse(args []string, want int) (who id.Client, words []string, err error) {
	if words, err = cli.Parse(c.e, c.fs, args, want); err != nil {
		return who, nil, err
	}
	if who, err = id.Parse[id.ClientKind](words[0]); err != nil {
		return who, nil, fmt.Errorf("%q is not a client ID; run anodyne client list to see them", words[0])
	}
	return who, words, nil
}

// tierLimits lists the tiers with their limits: "standard (1,000), ...".
func tierLimits() string {
	var list []string
	for _, tier := range access.Tiers() {
		list = append(list, fmt.Sprintf("%s (%s)", tier, figure.Thousands(int(tier.Limit()))))
	}
	return strings.Join(list, ", ")
}

func clientCreate(ctx context.Context, e cli.Env, args []string) error {
	c := newStoreCommand(e, "client", "create", "create --name NAME [flags]\n\nRegisters an application. The secret is shown once; only its hash is stored. Creates the database if it does not exist.")
	c.open = createStore
	name := c.fs.String("name", "", "`name` of the application (required)")
	org := c.fs.String("organization", "default", "`name` of the organisation, which is created if it does not exist")
	tier := c.fs.String("tier", access.Standard.String(), "requests an hour: "+tierLimits())
	scope := c.fs.String("scope", access.DefaultScopes.String(), "scopes granted to the client, separated by spaces")
	keys := newKeyFlags(c.fs)
	if _, err := cli.Parse(e, c.fs, args, 0); err != nil {
		return err
	}
	n, err := newClient(*name, *org, *tier, *scope)
	if err := errors.Join(err, keys.read(&n)); err != nil {
		return err
	}
	secret, hash := oauth.NewSecret()
	n.SecretHash = hash
	return c.run(ctx, func(s store.System) (any, func(io.Writer), error) {
		made, err := s.CreateClient(ctx, n)
		view := viewOf(made)
		view.ClientSecret = secret
		return view, func(w io.Writer) {
			fmt.Fprintf(w, "client_id:     %s\nclient_secret: %s\n\nStore the secret now; it cannot be shown again.\n", view.ClientID, secret)
		}, err
	})
}

// newClient validates the properties of a new client.
func newClient(name, org, tier, scope string) (n clients.NewClient, err error) {
	var errs []error
	n.Name, n.Org = strings.TrimSpace(name), strings.TrimSpace(org)
	for _, text := range []struct{ flag, value string }{{"name", n.Name}, {"organization", n.Org}} {
		if text.value == "" || utf8.RuneCountInString(text.value) > 100 || !utf8.ValidString(text.value) {
			errs = append(errs, fmt.Errorf("--%s: want 1 to 100 characters", text.flag))
		}
	}
	if n.Tier, err = access.ParseTier(tier); err != nil {
		errs = append(errs, fmt.Errorf("--tier: %w", err))
	}
	if n.Scopes, err = access.ParseScopes(scope); err != nil {
		errs = append(errs, fmt.Errorf("--scope: %w", err))
	} else if n.Scopes == 0 {
		errs = append(errs, errors.New("--scope: name at least one scope"))
	}
	return n, errors.Join(errs...)
}

// clientView is a client as printed by the commands.
type clientView struct {
	ClientID     string     `json:"client_id"`
	ClientSecret string     `json:"client_secret,omitempty"`
	Name         string     `json:"name"`
	Organization string     `json:"organization"`
	Tier         string     `json:"tier"`
	Scope        string     `json:"scope"`
	Requested    string     `json:"requested_scope,omitempty"`
	Owner        string     `json:"registered_by,omitempty"`
	Secrets      int        `json:"live_secrets"`
	CreatedAt    time.Time  `json:"created_at"`
	LastUsedAt   *time.Time `json:"last_used_at"`
	RevokedAt    *time.Time `json:"revoked_at"`
}

func viewOf(c clients.Client) clientView {
	v := clientView{ClientID: c.ID.String(), Name: c.Name, Organization: c.OrgName, Tier: c.Tier.String(), Scope: c.Scopes.String(),
		Requested: c.Requested.String(), Secrets: c.Secrets, CreatedAt: c.CreatedAt.UTC().Truncate(time.Second),
		LastUsedAt: momentOrNil(c.LastUsedAt), RevokedAt: momentOrNil(c.RevokedAt)}
	if c.Owner != nil {
		v.Owner = c.Owner.Email
	}
	return v
}

// momentOrNil returns a time as it is printed, which is null if it is zero.
func momentOrNil(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

func clientList(ctx context.Context, e cli.Env, args []string) error {
	return runList(ctx, e, args, "client", store.System.Clients, viewOf, printClients)
}

func printClients(w io.Writer, views []clientView) {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "CLIENT ID\tORGANIZATION\tNAME\tTIER\tSTATE\tLAST USED")
	for _, v := range views {
		state, used := "live", "never"
		if v.RevokedAt != nil {
			state = "revoked"
		}
		if v.LastUsedAt != nil {
			used = v.LastUsedAt.Format(time.RFC3339)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", v.ClientID, v.Organization, v.Name, v.Tier, state, used)
	}
	_ = table.Flush() // nothing to do if the terminal is gone
}

func clientRotate(ctx context.Context, e cli.Env, args []string) error {
	c := newStoreCommand(e, "client", "rotate", "rotate CLIENT_ID [flags]\n\nCreates a new secret for a client. The previous secret stays valid for --overlap; older ones stop working.")
	overlap := c.fs.Duration("overlap", 24*time.Hour, "how long the previous secret stays valid; 0 ends it immediately")
	who, _, err := c.parse(args, 1)
	if err != nil {
		return err
	}
	secret, hash := oauth.NewSecret()
	return c.run(ctx, func(s store.System) (any, func(io.Writer), error) {
		err := s.RotateSecret(ctx, who, hash, *overlap)
		return map[string]any{"client_id": who, "client_secret": secret, "overlap_seconds": int64(overlap.Seconds())}, func(w io.Writer) {
			fmt.Fprintf(w, "client_id:     %s\nclient_secret: %s\n\nStore the secret now; it cannot be shown again. The previous one stays valid for %s.\n", who, secret, overlap)
		}, err
	})
}

func clientRevoke(ctx context.Context, e cli.Env, args []string) error {
	c := newStoreCommand(e, "client", "revoke", "revoke CLIENT_ID [flags]\n\nRevokes a client and all its tokens, on every node within five seconds.")
	who, _, err := c.parse(args, 1)
	if err != nil {
		return err
	}
	return c.run(ctx, func(s store.System) (any, func(io.Writer), error) {
		err := s.RevokeClient(ctx, who)
		return map[string]any{"client_id": who, "revoked": true}, func(w io.Writer) { fmt.Fprintf(w, "%s is revoked\n", who) }, err
	})
}

func clientTier(ctx context.Context, e cli.Env, args []string) error {
	c := newStoreCommand(e, "client", "tier", "tier CLIENT_ID TIER [flags]\n\nTIER is "+access.TierNames("or")+". Takes effect on every node within five seconds.")
	who, words, err := c.parse(args, 2)
	if err != nil {
		return err
	}
	tier, err := access.ParseTier(words[1])
	if err != nil {
		return err
	}
	return c.run(ctx, func(s store.System) (any, func(io.Writer), error) {
		err := s.SetTier(ctx, who, tier)
		return map[string]any{"client_id": who, "tier": tier.String()}, func(w io.Writer) {
			fmt.Fprintf(w, "%s is now %s: %d requests an hour\n", who, tier, tier.Limit())
		}, err
	})
}
