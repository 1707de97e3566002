package clients

import (
	"context"
	"strconv"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/lease"
)

// Token is an access token, identified by its hash, with the current state of
// its client.
type Token struct {
	Principal access.Principal
	// Scope is what it was issued for, as far as its client still has it.
	Scope     access.Asked
	IssuedAt  time.Time
	ExpiresAt time.Time
	// Revoked reports whether the token or its client was revoked.
	Revoked bool
}

// Over reports whether the token has expired. A token issued in the future
// counts as expired, because it would exceed its lifetime.
func (t Token) Over(now time.Time) bool {
	return !now.Before(t.ExpiresAt) || lease.Ahead(t.IssuedAt, now)
}

// LastUsedGrain is the precision of the time a secret was last used. Storing it
// with every token would create a hot row per client.
const LastUsedGrain = time.Minute

// newToken is a token to store.
type newToken struct {
	hash            []byte
	org             access.OrgNo
	client          access.ClientNo
	scopes          access.Scopes
	issued, expires int64
	smart           string
	secret          []byte // the secret that the client used, or empty
	stored          bool
}

// IssueToken stores a new token of a client and records that its secret was
// used, unless that is already recorded. Because the caller may have read the
// client a while ago, it reports whether the client, and the secret it used if
// any, are still valid.
func (s System) IssueToken(ctx context.Context, c *Client, tokenHash []byte, scope access.Asked, lifetime time.Duration) (issued bool, err error) {
	now := s.db.Now()
	token := &newToken{hash: tokenHash, org: c.Org, client: c.No, scopes: scope.Scopes, issued: engine.Millis(now), expires: engine.Millis(now.Add(lifetime)),
		smart: scope.SMART, secret: c.Secret.Hash}
	if len(token.secret) == 0 || now.Sub(c.Secret.UsedAt) < LastUsedGrain {
		err = s.issuing.Do(ctx, 0, token)
		return token.stored, err
	}
	// This write locks the row of the secret, so it is not combined with others.
	err = s.db.Write(ctx, func(tx engine.Tx) error {
		issueOne(tx, token)
		tx.Last(engine.Stmt{SQL: `UPDATE client_secret SET last_used_at = $3 WHERE client_no = $1 AND hash = $2 AND (last_used_at IS NULL OR last_used_at < $4)`,
			Args: []any{int64(c.No), token.secret, token.issued, engine.Millis(now.Add(-LastUsedGrain))}})
		return nil
	})
	return token.stored, err
}

// issue stores new tokens.
func (t *tables) issue(tx engine.Tx, _ int64, tokens []*newToken) {
	if len(tokens) == 1 || !t.db.Dialect().Gathers {
		for _, token := range tokens {
			issueOne(tx, token)
		}
		return
	}
	n := len(tokens)
	hashes, secrets, smart := make([][]byte, n), make([][]byte, n), make([]string, n)
	orgs, clients, scopes, issued, expires := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	byHash := make(map[string]*newToken, n)
	for i, t := range tokens {
		hashes[i], orgs[i], clients[i], scopes[i], issued[i], expires[i], smart[i], secrets[i] =
			t.hash, int64(t.org), int64(t.client), int64(t.scopes), t.issued, t.expires, t.smart, t.secret
		if t.secret == nil {
			secrets[i] = []byte{}
		}
		t.stored = false
		byHash[string(t.hash)] = t
	}
	tx.Last(engine.Stmt{SQL: issueTokens, Args: []any{hashes, orgs, clients, scopes, issued, expires, smart, secrets}, Each: func(r engine.Row) error {
		if t := byHash[string(r.Raw(0))]; t != nil {
			t.stored = true
		}
		return nil
	}})
}

func issueOne(tx engine.Tx, t *newToken) {
	args := []any{t.hash, int64(t.org), int64(t.client), int64(t.scopes), t.issued, t.expires, t.smart}
	insert := issueToken
	if len(t.secret) > 0 {
		insert, args = issueToken+liveSecret, append(args, t.secret)
	}
	t.stored = false
	tx.Last(engine.Stmt{SQL: insert, Args: args, Changed: func(rows int64) { t.stored = rows > 0 }})
}

const (
	issueToken = `INSERT INTO token (hash, org_no, client_no, scopes, issued_at, expires_at, smart) SELECT $1, org_no, client_no, $4, $5, $6, $7
		FROM client WHERE client_no = $3 AND org_no = $2 AND revoked_at IS NULL`
	liveSecret = ` AND EXISTS (SELECT 1 FROM client_secret s WHERE s.client_no = $3 AND s.hash = $8 AND (s.expires_at IS NULL OR s.expires_at > $5))`

	// issueTokens does the same for many tokens, on PostgreSQL. LIMIT keeps the planner
	// from reading whole tables for a join.
	issueTokens = `INSERT INTO token (hash, org_no, client_no, scopes, issued_at, expires_at, smart)
		SELECT t.hash, live.org_no, live.client_no, t.scopes, t.issued_at, t.expires_at, t.smart
		FROM (SELECT unnest(CAST($1 AS BYTEA[])) AS hash, unnest(CAST($2 AS BIGINT[])) AS org_no, unnest(CAST($3 AS BIGINT[])) AS client_no, unnest(CAST($4 AS BIGINT[])) AS scopes,
			unnest(CAST($5 AS BIGINT[])) AS issued_at, unnest(CAST($6 AS BIGINT[])) AS expires_at, unnest(CAST($7 AS TEXT[])) AS smart, unnest(CAST($8 AS BYTEA[])) AS secret) AS t
		CROSS JOIN LATERAL (SELECT c.org_no, c.client_no FROM client c WHERE c.client_no = t.client_no AND c.org_no = t.org_no AND c.revoked_at IS NULL LIMIT 1) AS live
		WHERE t.secret = '' OR (SELECT s.expires_at IS NULL OR s.expires_at > t.issued_at FROM client_secret s WHERE s.client_no = t.client_no AND s.hash = t.secret LIMIT 1)
		RETURNING hash`
)

// Token looks up a token. Its scopes are limited to those that its client still
// has.
func (s System) Token(ctx context.Context, hash []byte) (t Token, found bool, err error) {
	err = s.db.Lookup(ctx, `SELECT t.org_no, t.client_no, t.scopes, t.issued_at, t.expires_at, t.revoked_at, c.id, c.scopes, c.tier, c.revoked_at, o.id, t.smart
			FROM token t JOIN client c ON c.client_no = t.client_no JOIN org o ON o.org_no = t.org_no WHERE t.hash = $1`, func(r engine.Row) error {
		found = true
		has := access.Scopes(r.Int(7))
		t = Token{
			Principal: access.Principal{Org: access.OrgNo(r.Int(0)), Client: access.ClientNo(r.Int(1)), Tier: access.Tier(r.Int(8))},
			Scope:     access.Asked{Scopes: access.Scopes(r.Int(2)), SMART: r.Text(11)}.Within(has),
			IssuedAt:  engine.FromMillis(r.Int(3)), ExpiresAt: engine.FromMillis(r.Int(4)), Revoked: !r.IsNull(5) || !r.IsNull(9),
		}
		t.Principal.Scopes, t.Principal.SMART = t.Scope.Permits(has)
		t.Principal.ClientID, _ = id.FromBytes[id.ClientKind](r.Raw(6))
		t.Principal.OrgID, _ = id.FromBytes[id.OrgKind](r.Raw(10))
		return nil
	}, hash)
	return t, found, err
}

// RevokeToken revokes a token of the view's client. As RFC 7009 requires, it
// ignores a token that does not exist or belongs to another client.
func (o Org) RevokeToken(ctx context.Context, hash []byte, line audit.Entry) error {
	return o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		revoked, err := tx.Exec(`UPDATE token SET revoked_at = $4 WHERE hash = $1 AND org_no = $2 AND client_no = $3 AND revoked_at IS NULL`,
			hash, int64(o.org), int64(o.client), engine.Millis(line.At))
		if err != nil || revoked == 0 {
			return err
		}
		tx.Last(o.journal.Entry(o.org, journal.Change{Audit: line})...)
		return bumpAccessEpoch(tx)
	})
}

// bumpAccessEpoch invalidates what nodes have cached about tokens and clients.
func bumpAccessEpoch(tx engine.Tx) error {
	_, err := tx.Exec(`INSERT INTO access_epoch (one, epoch) VALUES (1, 1) ON CONFLICT (one) DO UPDATE SET epoch = access_epoch.epoch + 1`)
	return err
}

// selectEpoch selects the access epoch as a text, for pulses.
const selectEpoch = `SELECT CAST(coalesce(max(epoch), 0) AS TEXT) FROM access_epoch`

// HeardEpoch returns the access epoch that the elected node last sent, and when
// this node received it. ok is false if it may have been sent long before. next is
// closed at the next pulse; it is nil if this node has not received any.
func (s System) HeardEpoch() (epoch int64, at time.Time, ok bool, next <-chan struct{}) {
	pulse, next := s.db.Pulse()
	if pulse.At.IsZero() { // there is no election, or not yet
		return 0, time.Time{}, false, nil
	}
	epoch, err := strconv.ParseInt(pulse.Text, 10, 64)
	return epoch, pulse.At, err == nil && pulse.Gap <= engine.PulseTime, next
}

// AccessEpoch returns a number that changes whenever any process revokes or
// changes a token or client.
func (s System) AccessEpoch(ctx context.Context) (epoch int64, err error) {
	err = s.db.Read(ctx, func(tx engine.Tx) error {
		_, err := engine.One(tx, `SELECT epoch FROM access_epoch WHERE one = 1`, func(r engine.Row) { epoch = r.Int(0) })
		return err
	})
	return epoch, err
}
