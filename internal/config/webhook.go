package config

import (
	"flag"
	"fmt"
	"net/netip"

	"anodyne.example/anodyne/internal/webhook"
)

// webhookFlags registers what concerns the sending of webhooks.
func (c *Config) webhookFlags(fs *flag.FlagSet) {
	fs.Var(&c.WebhookAllow, "webhook-allow-cidr", "non-public `networks` (CIDR) that webhooks may connect to, separated by commas")
	fs.StringVar(&c.WebhookCAFile, "webhook-ca-file", "", "`file` (PEM) with additional certificate authorities for webhook receivers")
}

// Webhooks is how webhooks are sent.
func (c *Config) Webhooks() (webhook.Config, error) {
	allow, err := networks(c.WebhookAllow)
	return webhook.Config{Version: c.Version, Dev: c.Dev, Allow: allow, CAFile: c.WebhookCAFile}, err
}

// validateWebhooks names what is wrong with them.
func (c *Config) validateWebhooks(bad func(flag, format string, args ...any)) {
	if _, err := c.Webhooks(); err != nil {
		bad("webhook-allow-cidr", "%v", err)
	}
	if _, err := webhook.NewSender(webhook.Config{CAFile: c.WebhookCAFile}); err != nil {
		bad("webhook-ca-file", "%v", err)
	}
}

// networks reads networks in CIDR form. One of IPv4 addresses in IPv6 form
// would never match, because addresses are compared in their plain form.
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
