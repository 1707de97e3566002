package store_test

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
)

var (
	placeholder = regexp.MustCompile(`\$(\d+)`)
	comment     = regexp.MustCompile(`/\*.*?\*/`)
)

// byOrganisation matches a step of a plan that reads all rows of an organisation.
var byOrganisation = regexp.MustCompile(`^SEARCH (\w+) USING .* \(org_no=\?\)$`)

// If a statement asks for certain values of a column and an index begins with the
// organisation and that column, SQLite uses it. Without statistics it sometimes
// prefers the primary key, of which only the organisation is known, and then reads
// all rows of the organisation.
func TestStatementsUseTheirIndexes(t *testing.T) {
	db := storetest.Open(t, storetest.SQLite).Database()
	query := func(sql string, each func(engine.Row)) error {
		arguments := 0
		for _, found := range placeholder.FindAllStringSubmatch(comment.ReplaceAllString(sql, ""), -1) {
			n, _ := strconv.Atoi(found[1])
			arguments = max(arguments, n)
		}
		return db.Read(t.Context(), func(tx engine.Tx) error {
			return tx.Query(sql, func(r engine.Row) error {
				each(r)
				return nil
			}, make([]any, arguments)...)
		})
	}
	second := map[string][]string{} // the columns after the organisation in the indexes of a table
	if err := query(`SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_index_list(t.name) i
		JOIN pragma_index_info(i.name) o ON o.seqno = 0 AND o.name = 'org_no' JOIN pragma_index_info(i.name) c ON c.seqno = 1 WHERE t.type = 'table'`,
		func(r engine.Row) { second[r.Text(0)] = append(second[r.Text(0)], r.Text(1)) }); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(second["import_key"], "patient_id") {
		t.Fatalf("the indexes of the tables were not found: %v", second)
	}
	tables := slices.Sorted(maps.Keys(second))
	explained := map[string]bool{}
	for _, s := range packageSQL(t) {
		if strings.HasPrefix(s.at.Filename, "check") {
			continue // the operator's check reads everything
		}
		for _, sql := range s.variants(tables) {
			var wasteful []string
			if err := query("EXPLAIN QUERY PLAN "+sql, func(r engine.Row) {
				if step := byOrganisation.FindStringSubmatch(r.Text(3)); step != nil {
					wasteful = append(wasteful, step[1])
				}
			}); err != nil {
				continue // it is for PostgreSQL, or was not completed
			}
			explained[s.sql] = true
			_, condition, _ := strings.Cut(sql, " WHERE ")
			for _, name := range wasteful {
				table := name
				for _, named := range regexp.MustCompile(`(\w+) (AS )?`+name+`\b`).FindAllStringSubmatch(sql, -1) {
					if second[table] == nil && second[named[1]] != nil {
						table = named[1]
					}
				}
				for _, column := range second[table] {
					if regexp.MustCompile(`\b` + column + ` (= |IN \()`).MatchString(condition) {
						t.Errorf("%s: SQLite reads all rows of an organisation in %s, despite the index by %s: %s", s.at, table, column, sql)
					}
				}
			}
		}
	}
	if len(explained) < 350 {
		t.Errorf("only %d statements were explained", len(explained))
	}
}

// variants returns the statement with each table in the place of what is only known
// at run time.
func (s statement) variants(tables []string) (all []string) {
	sql := strings.Join(strings.Fields(s.full), " ")
	if !strings.Contains(sql, "...") {
		return []string{sql}
	}
	for _, table := range tables {
		all = append(all, strings.ReplaceAll(sql, "...", table))
	}
	return all
}
