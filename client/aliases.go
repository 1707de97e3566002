package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// Alias is an organisation's own name for a medicine, with the medicine that
// its RxNorm code stands for.
type Alias struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	RxNormCode  string   `json:"rxnorm_code"`
	DrugClass   string   `json:"drug_class"`
	Ingredients []string `json:"ingredients"`
	// Product is the RxNorm name of the product, or "" if the code is not that
	// of a product.
	Product string `json:"product"`
	// CreatedBy is the client or member who added the alias.
	CreatedBy string    `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
}

// NewAlias is the input of [Client.CreateAlias]. Both fields are required.
type NewAlias struct {
	Name       string `json:"name"`
	RxNormCode string `json:"rxnorm_code"`
}

// AliasPatch is the input of [Client.UpdateAlias]. Absent fields are left
// unchanged; [Set] replaces a field.
type AliasPatch struct {
	Name       Optional[string] `json:"name,omitzero"`
	RxNormCode Optional[string] `json:"rxnorm_code,omitzero"`
}

func aliasPath(id ...string) []string {
	return append([]string{"v1", "reference", "medications", "aliases"}, id...)
}

// CreateAlias adds a name for a medicine. Stored medications are re-derived in
// the background. It needs the scope clinical_data:write.
func (c *Client) CreateAlias(ctx context.Context, alias NewAlias, opts ...CallOption) (*Alias, error) {
	return answered[Alias](ctx, c, &call{op: "create alias", method: http.MethodPost, path: aliasPath(), body: alias}, opts)
}

// Alias returns an alias. It needs the scope clinical_data:read.
func (c *Client) Alias(ctx context.Context, id string) (*Alias, error) {
	return answered[Alias](ctx, c, &call{op: "get alias", method: http.MethodGet, path: aliasPath(id)}, nil)
}

// Aliases returns one page of aliases, sorted by name. A zero page or limit
// uses the service's default. It needs the scope clinical_data:read.
func (c *Client) Aliases(ctx context.Context, page, limit int) (*Page[Alias], error) {
	return answered[Page[Alias]](ctx, c, &call{op: "list aliases", method: http.MethodGet, path: aliasPath(), query: pageQuery(page, limit)}, nil)
}

// AllAliases yields all aliases, fetching page by page. It stops after the
// first error.
func (c *Client) AllAliases(ctx context.Context) iter.Seq2[Alias, error] {
	return walkPages(1, func(page int) (*Page[Alias], error) { return c.Aliases(ctx, page, maxLimit) })
}

// UpdateAlias changes an alias and returns the result. It needs the scope
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
