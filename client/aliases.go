package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Alias is a name that the organisation uses for a medicine, with what its
// RxNorm code is.
type Alias struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	RxNormCode  string   `json:"rxnorm_code"`
	DrugClass   string   `json:"drug_class"`
	Ingredients []string `json:"ingredients"`
	// Product is the name of the product in RxNorm, or "" when the code is not
	// that of one.
	Product string `json:"product"`
	// CreatedBy is the client or the member who added it.
	CreatedBy string    `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
}

// NewAlias is what CreateAlias sends. Both members are required.
type NewAlias struct {
	Name       string `json:"name"`
	RxNormCode string `json:"rxnorm_code"`
}

// AliasPatch is what UpdateAlias changes: absent members stay, [Set] replaces
// one.
type AliasPatch struct {
	Name       Optional[string] `json:"name,omitzero"`
	RxNormCode Optional[string] `json:"rxnorm_code,omitzero"`
}

func aliasPath(id ...string) []string {
	return append([]string{"v1", "reference", "medications", "aliases"}, id...)
}

// CreateAlias teaches the service a name of a medicine. Stored medications are
// derived again in the background. It needs the scope clinical_data:write.
func (c *Client) CreateAlias(ctx context.Context, alias NewAlias, opts ...CallOption) (*Alias, error) {
	return answered[Alias](ctx, c, &call{op: "create alias", method: http.MethodPost, path: aliasPath(), body: alias}, opts)
}

// Alias returns an alias. It needs the scope clinical_data:read.
func (c *Client) Alias(ctx context.Context, id string) (*Alias, error) {
	return answered[Alias](ctx, c, &call{op: "get alias", method: http.MethodGet, path: aliasPath(id)}, nil)
}

// Aliases returns one page of the aliases by name; zeros leave the choice to
// the service. It needs the scope clinical_data:read.
func (c *Client) Aliases(ctx context.Context, page, limit int) (*Page[Alias], error) {
	q := url.Values{}
	setNumber(q, "page", page)
	setNumber(q, "limit", limit)
	return answered[Page[Alias]](ctx, c, &call{op: "list aliases", method: http.MethodGet, path: aliasPath(), query: q}, nil)
}

// AllAliases yields all aliases, page by page. It ends after the first error.
func (c *Client) AllAliases(ctx context.Context) iter.Seq2[Alias, error] {
	return walkPages(1, func(page int) (*Page[Alias], error) { return c.Aliases(ctx, page, maxLimit) })
}

// UpdateAlias changes an alias and returns it as it is then. It needs the scope
// clinical_data:write.
func (c *Client) UpdateAlias(ctx context.Context, id string, patch AliasPatch, opts ...CallOption) (*Alias, error) {
	return answered[Alias](ctx, c, &call{
		op: "update alias", method: http.MethodPatch, path: aliasPath(id), body: patch, mediaType: "application/merge-patch+json",
	}, opts)
}

// DeleteAlias removes an alias. It needs the scope clinical_data:write.
func (c *Client) DeleteAlias(ctx context.Context, id string) error {
	_, err := c.do(ctx, &call{op: "delete alias", method: http.MethodDelete, path: aliasPath(id)}, nil)
	return err
}
