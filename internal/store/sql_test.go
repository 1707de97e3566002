package store_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/store/storetest"
)

var (
	isSQL = regexp.MustCompile(`^(SELECT|INSERT|UPDATE|DELETE|WITH)\s`)
	// boundToOrg matches statements about one organisation: they select by its
	// number, or insert it.
	boundToOrg = regexp.MustCompile(`org_no = \$\d|INSERT INTO \w+ \([^)]*\borg_no\b[^)]*\)\s*(VALUES \([^)]*\$|SELECT \$)`)
)

// unbound lists the statements that are not about one organisation: a part of
// the statement, and the reason.
var unbound = map[string]string{
	"FROM report WHERE status <= 1":         "the queue of reports, of all organisations",
	"FROM report WHERE status = 2":          "the expiry of reports, of all organisations",
	"FROM report_garbage /*WHERE":           "purge, over all organisations",
	"FROM schema_version":                   "the schema's own table",
	"INTO schema_version":                   "the schema's own table",
	"FROM sqlite_schema":                    "SQLite's own table",
	"FROM pg_class":                         "PostgreSQL's own table",
	"current_setting('server_version_num')": "PostgreSQL's own setting",
	"pg_advisory_xact_lock":                 "a lock",
	"FROM setting":                          "about the whole database",
	"INTO setting":                          "about the whole database",
	"SELECT ... FROM ...":                   "a backup, over all organisations",
	"SELECT org_no, count(*) FROM ...":      "a backup, over all organisations",
	"SELECT count(*) FROM org_counter":      "a backup, over all organisations",
	"SELECT count(*) FROM ...":              "a backup, over all organisations",
	"SELECT 1 FROM ... LIMIT 1":             "a restore, into an empty database",
	"DELETE FROM ... WHERE":                 "purge, over all organisations",
	"DELETE FROM ...":                       "a restore, of what one before it left",
	"INSERT INTO ... (":                     "a restore, over all organisations",
	"SELECT setval":                         "a restore, over all organisations",
	"FROM pg_constraint":                    "PostgreSQL's own table",
	"FROM pg_extension":                     "PostgreSQL's own table",
	"FROM pg_index":                         "PostgreSQL's own table",
	"SELECT to_regclass('pg_catalog":        "a table of Citus",
	"SELECT quote_ident(current_database":   "PostgreSQL's own function",
	"FROM pg_dist_node":                     "a table of Citus",
	"FROM pg_dist_partition":                "a table of Citus",
	"FROM pg_dist_placement":                "a table of Citus",
	"FROM run_command_on_workers($1)":       "about the servers of the cluster",
	"SELECT create_distributed_table":       "a migration, of whole tables",
	"SELECT truncate_local_data_after":      "a migration, of whole tables",
	"SELECT org_no, pos, at, subject, event_id, event_type, event_data, audit, packed FROM journal UNION": "a backup, over all organisations",
	"SELECT org_no, CAST(sum(n) AS BIGINT)":                    "a backup, over all organisations",
	"INTO access_epoch":                                        "about all nodes",
	"FROM access_epoch":                                        "about all nodes",
	"INTO spool_segment":                                       "a file of a node",
	"FROM spool_segment":                                       "purge: a file of a node",
	"FROM org o JOIN (SELECT c.org_no, c.patients":             "the worker that derives again, over all organisations",
	"FROM org o JOIN org_counter":                              "the operator's check, over all organisations",
	"SELECT o.org_no, o.id, o.name, ":                          "the sealer and the operator's check, over all organisations",
	"FROM seal_acceptance":                                     "about all logs of the database",
	"INTO seal_acceptance":                                     "about all logs of the database",
	"DELETE FROM journal_pending":                              "the sequencer, over all organisations",
	"FROM (SELECT at FROM journal_pending /*WHERE":             "a metric, over all organisations",
	"FROM journal_head h LEFT JOIN journal_seal":               "a metric, over all organisations",
	"SELECT 0, 0":                                              "a metric that needs nothing",
	"SELECT pg_database_size":                                  "a metric of the whole database",
	"INTO org (id, name, created_at)":                          "makes an organisation",
	"SELECT org_no, id FROM org WHERE name":                    "finds an organisation by name, for the operator",
	"FROM client c JOIN org o":                                 "the operator's list, and the client's own credentials",
	"INTO client_secret":                                       "by the client's number, which has one organisation",
	"SELECT hash, expires_at, last_used_at FROM client_secret": "by the client's identifier, which has one organisation",
	"DELETE FROM client_secret WHERE client_no":                "by the client's number, which has one organisation",
	"UPDATE client_secret SET":                                 "by the client's number, which has one organisation",
	"UPDATE client SET":                                        "by the client's number, for the operator",
	"unnest(CAST($8 AS BYTEA[])) AS secret) AS t":              "new tokens, each with its organisation",
	"FROM token t JOIN client c":                               "the hash is the secret that tells the organisation",
	"SELECT asked.place, found.* FROM unnest(":                 "runs a statement for each call of a round, with its own arguments",
	"INTO rate_window":                                         "by the client's number, which has one organisation",
	"FROM alert_state WHERE next_day":                          "the sweep of alerts, over all organisations",
	"FROM alert_state WHERE day":                               "the sweep of alerts, over all organisations",
	"SELECT org_no, id FROM client WHERE client_no":            "by the client's number, which has one organisation",
	"UPDATE rate_window":                                       "by the client's number, which has one organisation",
	"FROM account a JOIN org o":                                "who signs in is known by the address, and lists are bound where they are made",
	"FROM account_session s JOIN account a":                    "the hash is the secret that tells the organisation",
	"UPDATE account_session SET seen_at":                       "the hash is the secret that tells the organisation",
	"FROM invitation i JOIN org o":                             "the hash is the secret that tells the organisation",
	"SELECT 1 FROM invitation i WHERE i.hash":                  "the hash is the secret that tells the organisation",
	"DELETE FROM invitation WHERE hash = $1":                   "the hash is the secret that tells the organisation",
	"SELECT account_no FROM account ORDER BY":                  "whether anybody is a member of anything",
	"sign_in_throttle":                                         "an address that was tried, of whatever organisation",
	"FROM password_reset r JOIN account a":                     "the hash is the secret that tells the member",
	"DELETE FROM client_usage WHERE (org_no":                   "purge, over all organisations",

	"pg_notify":               "no data: which journals have grown",
	"FROM pg_control_system":  "no data: the identity of a server",
	"webhook_node WHERE node": "a process that delivers, over all organisations",
	"INTO webhook_node":       "a process that delivers, over all organisations",
	"FROM webhook_node":       "the processes that deliver, over all organisations",
	"FROM pg_locks":           "the processes that deliver, over all organisations",
	"pg_advisory_unlock_all":  "a process that delivers, over all organisations",
	"pg_advisory_lock":        "a process that delivers, over all organisations",
	"INTO leader":             "the node that is elected, over all organisations",
	"UPDATE leader":           "the node that is elected, over all organisations",
	"INTO node ":              "a node, over all organisations",
	"FROM node ":              "the nodes, over all organisations",
	"LEFT JOIN node n":        "the nodes, over all organisations",
	"pg_try_advisory_lock":    "a process that stands for election",
	"SELECT ''":               "a pulse without a text",
	"SELECT DISTINCT org_no FROM journal_pending":                 "the sequencer, over all organisations",
	"SELECT org_no FROM org ORDER BY org_no":                      "a backup, over all organisations",
	"SELECT org_no % 64, org_no FROM org":                         "the parts of the database, of all organisations",
	"SELECT org_no, get_shard_id":                                 "where organisations are, not their rows",
	"FROM pg_dist_placement p JOIN pg_dist_node":                  "where organisations are, not their rows",
	"SELECT now.shardid":                                          "where organisations are, not their rows",
	"master_run_on_worker":                                        "no data: the identity of a server",
	"FROM org o JOIN pg_dist_placement":                           "the parts of the database, of all organisations",
	"FROM webhook w JOIN webhook_cursor c ON c.org_no = w.org_no": "the delivery worker, over all organisations",
	"coalesce(sum(pos), 0) AS BIGINT) FROM journal_head":          "the delivery worker, over all organisations",
	"SELECT org_no, pos FROM journal_head":                        "the delivery worker, over all organisations",
	"FROM webhook_cursor c WHERE c.due_at IS NOT NULL":            "the delivery worker, over all organisations",
	"SELECT due_at FROM webhook_cursor WHERE due_at > $1":         "the delivery worker, over all organisations",
	"FROM webhook_cursor c LEFT JOIN webhook w":                   "purge, over all organisations",
	"count(*) FROM webhook WHERE enabled = 0":                     "the operator's metrics, over all organisations",
	"SELECT org_no, aliases FROM derivation WHERE aliases > 0":    "the worker that derives again, over all organisations",
	"FROM webhook_cursor c JOIN webhook w":                        "the operator's metrics, over all organisations",
	"FROM patient_gone g JOIN org o ON o.org_no = g.org_no":       "the list of erasures, of all organisations",
	"SELECT org_no, name FROM org ORDER BY name":                  "the operator's check, over all organisations",
	"SELECT org_no, id FROM org ORDER BY org_no":                  "erasures after a restore, for the operator",
}

// Every statement of the package is restricted to an organisation, or is in the
// list above with a reason.
func TestStatementsAreBoundToAnOrganisation(t *testing.T) {
	statements := packageSQL(t)
	if len(statements) < 40 {
		t.Fatalf("only %d statements were found; the walk is broken", len(statements))
	}
	used := map[string]bool{}
	for _, s := range statements {
		sql := strings.Join(strings.Fields(s.sql), " ")
		excused := boundToOrg.MatchString(strings.Join(strings.Fields(s.full), " "))
		for part := range unbound {
			if !boundToOrg.MatchString(sql) && strings.Contains(sql, part) {
				excused, used[part] = true, true
			}
		}
		if !excused {
			t.Errorf("%s: no organisation in %q", s.at, sql)
		}
	}
	for part := range unbound {
		if !used[part] {
			t.Errorf("no statement needs the excuse for %q", part)
		}
	}
}

// slicedBy matches a condition by which a statement is restricted to some rows of a
// subquery.
var slicedBy = regexp.MustCompile(`IN \(SELECT [^()]* LIMIT`)

// If PostgreSQL expects few rows, it may make a subquery again for each row that it
// compares with. What was the size of a queue when statistics were collected says
// nothing about its size now.
func TestSubqueriesAreMadeOnce(t *testing.T) {
	const usage = "DELETE FROM client_usage" // has rows of months, unless there is nothing to delete
	for _, s := range packageSQL(t) {
		sql := strings.Join(strings.Fields(s.full), " ")
		if slicedBy.MatchString(sql) && !strings.HasPrefix(sql, usage) {
			t.Errorf("%s: compare with the last value of the slice (column <= (SELECT max(column) FROM (SELECT ... LIMIT ...))) instead: %s", s.at, sql)
		}
	}
}

type statement struct {
	at  token.Position
	sql string
	// full has the constants of its package in place, so that only what is
	// known at run time is missing.
	full string
}

// packageSQL finds the SQL in the source of the store and the packages below
// it, except for tests. In a statement composed of parts, those that are not
// literals become "...".
func packageSQL(t *testing.T) (found []statement) {
	t.Helper()
	var files []string
	if err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (path == "storetest" || path == "pgserver"):
			return fs.SkipDir
		case strings.HasSuffix(path, ".go"):
			files = append(files, path)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	parsed, constants := map[string]*ast.File{}, map[string]map[string]ast.Expr{} // by path, and by directory and name
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file := storetest.Must[*ast.File](t)(parser.ParseFile(set, path, nil, 0))
		parsed[path] = file
		dir := filepath.Dir(path)
		if constants[dir] == nil {
			constants[dir] = map[string]ast.Expr{}
		}
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
				for _, spec := range g.Specs {
					for i, value := range spec.(*ast.ValueSpec).Values {
						constants[dir][spec.(*ast.ValueSpec).Names[i].Name] = value
					}
				}
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(parsed)) {
		ast.Inspect(parsed[path], func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			text, literal := textOf(e, nil)
			if literal && isSQL.MatchString(strings.TrimSpace(text)) {
				full, _ := textOf(e, constants[filepath.Dir(path)])
				found = append(found, statement{set.Position(e.Pos()), text, full})
			}
			return !literal
		})
	}
	return found
}

// textOf returns the text of a string literal, or of a concatenation with one.
// Constants of the package are resolved if they are given.
func textOf(e ast.Expr, constants map[string]ast.Expr) (text string, literal bool) {
	switch e := e.(type) {
	case *ast.Ident:
		if value := constants[e.Name]; value != nil {
			text, _ := textOf(value, constants)
			return text, false
		}
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		x, xLiteral := textOf(e.X, constants)
		y, yLiteral := textOf(e.Y, constants)
		return x + y, xLiteral || yLiteral
	}
	return "...", false
}
