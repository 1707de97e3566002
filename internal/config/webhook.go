package config

import (
	"flag"
	"fmt"
	"net/netip"

	"anodyne.example/anodyne/internal/webhook"
)

// webhookFlags registers the flags for sending webhooks.
func (c *Config) webhookFlags(fs *flag.FlagSet) {
	fs.Var(&c.WebhookAllow, "webhook-allow-cidr", "non-public `networks` (CIDR) that webhooks may connect to, separated by commas")
	fs.StringVar(&c.WebhookCAFile, "webhook-ca-file", "", "`file` (PEM) with additional certificate authorities for webhook receivers")
}

// Webhooks returns the configuration for sending webhooks.
func (c *Config) Webhooks() (webhook.Config, error) {
	allow, err := networks(c.WebhookAllow)
	return webhook.Config{Version: c.Version, Dev: c.Dev, Allow: allow, CAFile: c.WebhookCAFile}, err
}

// validateWebhooks reports errors in these flags.
func (c *Config) validateWebhooks(bad func(flag, format string, args ...any)) {
	if _, err := c.Webhooks(); err != nil {
		bad("webhook-allow-cidr", "%v", err)
	}
	if _, err := webhook.NewSender(webhook.Config{CAFile: c.WebhookCAFile}); err != nil {
		bad("webhook-ca-file", "%v", err)
	}
}

// networks parses networks in CIDR notation. It rejects IPv4-mapped IPv6
// networks, which would never match, because addresses are compared in their
// unmapped form.
func networks(texts []string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if err != nil || p.Addr().Is4In6() {
			return nil, fmt.Errorf("want networks such as 10.0.0.0/8, not %q", text)
		}
		list = append(list, p.Masked())
	}
	return list, nil
}
