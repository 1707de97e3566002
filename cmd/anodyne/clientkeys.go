package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"os"
	"text/tabwriter"
	"time"

	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/oauth"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/webhook"
)

// keyFlags are the flags for public keys of a client.
type keyFlags struct{ file, uri *string }

func newKeyFlags(fs *flag.FlagSet) keyFlags {
	return keyFlags{
		fs.String("jwks", "", "`file` with public keys to register, as a JSON Web Key Set"),
		fs.String("jwks-uri", "", "`URL` at which the application publishes its public keys"),
	}
}

// read reads the keys that the flags name.
func (f keyFlags) read(n *clients.NewClient) error {
	var errs []error
	if *f.file != "" {
		keys, err := readKeyFile(*f.file)
		if err != nil {
			errs = append(errs, fmt.Errorf("--jwks: %s: %w", *f.file, err))
		}
		n.Keys = keys
	}
	if *f.uri != "" {
		// The server decides which networks it connects to.
		if err := webhook.CheckURL(*f.uri, false, netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")); err != nil {
			errs = append(errs, fmt.Errorf("--jwks-uri: %w", err))
		}
		n.KeysURI = *f.uri
	}
	return errors.Join(errs...)
}

// readKeyFile reads the public keys in a file.
func readKeyFile(name string) ([]clients.Key, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, oauth.KeysLimit+1))
	if err != nil {
		return nil, err
	}
	return oauth.ReadKeys(text)
}

// keysView is the keys of a client as printed by the command.
type keysView struct {
	ClientID string    `json:"client_id"`
	Keys     []keyView `json:"keys"`
	URI      string    `json:"jwks_uri,omitempty"`
}

type keyView struct {
	ID         string     `json:"kid"`
	Algorithm  string     `json:"alg"`
	Thumbprint string     `json:"thumbprint"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
}

func clientKeys(ctx context.Context, e cli.Env, args []string) error {
	c := newStoreCommand(e, "client", "keys", "keys CLIENT_ID [flags]\n\nLists the public keys with which a client signs its token requests, after making the changes given by the flags.")
	flags := newKeyFlags(c.fs)
	remove := c.fs.String("remove", "", "`kid` of a key to remove")
	forget := c.fs.Bool("remove-jwks-uri", false, "remove the URL of the keys")
	who, _, err := c.parse(args, 1)
	if err != nil {
		return err
	}
	var change clients.NewClient
	if err := flags.read(&change); err != nil {
		return err
	}
	if *forget && change.KeysURI != "" {
		return errors.New("use --jwks-uri or --remove-jwks-uri, not both")
	}
	return c.run(ctx, func(s store.System) (any, func(io.Writer), error) {
		if *remove != "" {
			err = s.RemoveKey(ctx, who, *remove)
		}
		if err == nil && change.Keys != nil {
			err = s.AddKeys(ctx, who, change.Keys)
		}
		if err == nil && (change.KeysURI != "" || *forget) {
			err = s.SetKeysURI(ctx, who, change.KeysURI)
		}
		if err != nil {
			return nil, nil, err
		}
		_, keys, err := s.Keys(ctx, who)
		view := viewOfKeys(who, keys)
		return view, view.print, err
	})
}

func viewOfKeys(who id.Client, keys clients.Keys) keysView {
	view := keysView{ClientID: who.String(), Keys: []keyView{}, URI: keys.URI.URI}
	for _, k := range keys.Keys {
		v := keyView{ID: k.ID, Algorithm: k.Algorithm, Thumbprint: k.Thumbprint, CreatedAt: k.CreatedAt.UTC().Truncate(time.Second)}
		if !k.UsedAt.IsZero() {
			v.LastUsedAt = &k.UsedAt
		}
		view.Keys = append(view.Keys, v)
	}
	return view
}

func (v keysView) print(w io.Writer) {
	if len(v.Keys) == 0 && v.URI == "" {
		fmt.Fprintf(w, "%s has no keys\n", v.ClientID)
	}
	if len(v.Keys) > 0 {
		table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
		fmt.Fprintln(table, "KID\tALGORITHM\tTHUMBPRINT\tADDED\tLAST USED")
		for _, k := range v.Keys {
			used := "never"
			if k.LastUsedAt != nil {
				used = k.LastUsedAt.Format(time.RFC3339)
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", k.ID, k.Algorithm, k.Thumbprint, k.CreatedAt.Format(time.RFC3339), used)
		}
		_ = table.Flush() // nothing to do if the terminal is gone
	}
	if v.URI != "" {
		fmt.Fprintf(w, "Keys are also read from %s\n", v.URI)
	}
}
