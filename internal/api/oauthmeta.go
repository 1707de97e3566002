package api

import (
	"net/http"

	"anodyne.example/anodyne/internal/access"
)

// authMethods are the ways in which a client can authenticate, and
// signingAlgorithms those of its assertions.
var (
	authMethods       = []string{"client_secret_basic", "client_secret_post", "private_key_jwt"}
	signingAlgorithms = []string{"RS384", "ES384"}
)

// allScopes lists the scopes that a client can ask for.
func allScopes() []string { return append(access.AllScopes.Names(), access.SMARTScopes()...) }

// oauthMetadata returns the authorization server metadata (RFC 8414).
func (a *API) oauthMetadata(x *exchange) (answer, error) {
	base := a.base(x.r)
	return x.json(http.StatusOK, map[string]any{
		"issuer":                                base,
		"token_endpoint":                        base + tokenPath,
		"revocation_endpoint":                   base + "/oauth/revoke",
		"introspection_endpoint":                base + "/oauth/introspect",
		"token_endpoint_auth_methods_supported": authMethods,
		"token_endpoint_auth_signing_alg_values_supported":         signingAlgorithms,
		"revocation_endpoint_auth_methods_supported":               authMethods,
		"revocation_endpoint_auth_signing_alg_values_supported":    signingAlgorithms,
		"introspection_endpoint_auth_methods_supported":            authMethods,
		"introspection_endpoint_auth_signing_alg_values_supported": signingAlgorithms,
		"grant_types_supported":                                    []string{"client_credentials"},
		"response_types_supported":                                 []string{},
		"scopes_supported":                                         allScopes(),
		"service_documentation":                                    base + "/openapi.json",
	}), nil
}

// smartConfiguration returns the metadata of SMART App Launch, of which
// Backend Services are supported.
func (a *API) smartConfiguration(x *exchange) (answer, error) {
	base := a.base(x.r)
	return x.json(http.StatusOK, map[string]any{
		"token_endpoint":                                   base + tokenPath,
		"token_endpoint_auth_methods_supported":            authMethods,
		"token_endpoint_auth_signing_alg_values_supported": signingAlgorithms,
		"grant_types_supported":                            []string{"client_credentials"},
		"scopes_supported":                                 allScopes(),
		"introspection_endpoint":                           base + "/oauth/introspect",
		"revocation_endpoint":                              base + "/oauth/revoke",
		"capabilities":                                     []string{"client-confidential-asymmetric", "client-confidential-symmetric", "permission-v1", "permission-v2"},
	}), nil
}
