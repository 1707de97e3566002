package conformance

import (
	"fmt"
	"slices"
	"testing"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
)

// Statements that insert rows alike leave the same rows, combined or not.
func rowsAlike(t *testing.T, open func() *store.Store) {
	s := open()
	storetest.Exec(t, s, `CREATE TABLE alike (org_no BIGINT, no BIGINT, word TEXT, bytes BYTEA, void BYTEA, double BIGINT, PRIMARY KEY (org_no, no))`)
	if s.Database().Dialect().Distributed {
		storetest.Texts(t, s, 0, `SELECT create_distributed_table('alike', 'org_no', colocate_with => 'patient')`)
		s = open()
	}
	storetest.Exec(t, s, `INSERT INTO setting (name, value) VALUES ('two', $1)`, []byte("2"))
	insert := func(org, no int64, word, bytes any) engine.Stmt {
		return engine.Stmt{SQL: `INSERT INTO alike (org_no, no, word, bytes, void, double) VALUES ($1, CAST($2 AS BIGINT), $3, $4, $5, 2 * (CAST($2 AS BIGINT) + 0)) ON CONFLICT (org_no, no) DO UPDATE SET word = excluded.word`,
			Args: []any{org, no, word, bytes, nil}, Alike: 1}
	}
	from := func(no int64) engine.Stmt {
		return engine.Stmt{SQL: `INSERT INTO alike (org_no, no, word) SELECT $1, $2, name FROM setting WHERE name = $3`, Args: []any{int64(3), no, "two"}, Alike: 1}
	}
	key := func(same int, no int64, word string) engine.Stmt { // the same SQL, combined in another way
		return engine.Stmt{SQL: `INSERT INTO alike (org_no, no, double, word) VALUES ($1, $2, $3, $4)`, Args: []any{int64(6), no, int64(0), word}, Alike: same}
	}
	if err := s.Database().Write(t.Context(), func(tx engine.Tx) error {
		return tx.Many(key(1, 1, "one"), key(1, 2, "two"), key(2, 3, "three"), key(2, 4, "four"), key(3, 5, "five"), key(3, 6, "six"))
	}); err != nil {
		t.Fatal(err)
	}
	if n := storetest.Number(t, s, `SELECT count(*) FROM alike WHERE org_no = 6 AND word = CASE no WHEN 1 THEN 'one' WHEN 2 THEN 'two' WHEN 3 THEN 'three' WHEN 4 THEN 'four' WHEN 5 THEN 'five' ELSE 'six' END`); n != 6 {
		t.Errorf("%d rows of 6 have their own word", n)
	}
	stmts := []engine.Stmt{
		insert(1, 1, "a", []byte{0, 1}), insert(1, 2, nil, nil), insert(1, 3, "", []byte{}), insert(1, 4, `{"x","y"}`, []byte("NULL")),
		insert(2, 1, nil, nil), insert(2, 2, nil, nil),
		from(1), from(2),
		{SQL: `UPDATE alike SET word = 'updated' WHERE org_no = 1 AND no = 2`},
		insert(1, 3, "again", nil), insert(3, 3, "first", nil), insert(3, 4, "other", nil), insert(3, 3, "last", nil),
	}
	for no := int64(0); no < 2500; no++ {
		stmts = append(stmts, insert(4, no, fmt.Sprint("word ", no), nil))
	}
	for no := range int64(100) {
		stmts = append(stmts, insert(5, no, "", []byte("x")))
	}
	if err := s.Database().Write(t.Context(), func(tx engine.Tx) error {
		if err := tx.Many(stmts[:6]...); err != nil {
			return err
		}
		tx.Last(stmts[6:]...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	rows, err := engine.Get(t.Context(), s.Database(), func(tx engine.Tx) (rows []string, err error) {
		err = tx.Query(`SELECT org_no, no, word, bytes, void, double FROM alike WHERE org_no < 4 ORDER BY org_no, no`, func(r engine.Row) error {
			row := fmt.Sprint(r.Int(0), r.Int(1))
			for i := 2; i < 5; i++ {
				if r.IsNull(i) {
					row += " NULL"
				} else {
					row += fmt.Sprintf(" %q", r.Raw(i))
				}
			}
			rows = append(rows, fmt.Sprint(row, " ", r.Int(5)))
			return nil
		})
		return rows, err
	})
	want := []string{
		`1 1 "a" "\x00\x01" NULL 2`, `1 2 "updated" NULL NULL 4`, `1 3 "again" "" NULL 6`, `1 4 "{\"x\",\"y\"}" "NULL" NULL 8`,
		`2 1 NULL NULL NULL 2`, `2 2 NULL NULL NULL 4`, `3 1 "two" NULL NULL 0`, `3 2 "two" NULL NULL 0`,
		`3 3 "last" NULL NULL 6`, `3 4 "other" NULL NULL 8`,
	}
	if err != nil || !slices.Equal(rows, want) {
		t.Errorf("%v %q, want %q", err, rows, want)
	}
	if n := storetest.Number(t, s, `SELECT count(*) FROM alike WHERE org_no = 4 AND word = 'word ' || no AND double = 2 * no`); n != 2500 {
		t.Errorf("%d rows, want 2500", n)
	}
	if n := storetest.Number(t, s, `SELECT count(*) FROM alike WHERE org_no = 5 AND word = '' AND bytes = $1 AND void IS NULL`, []byte("x")); n != 100 {
		t.Errorf("%d rows with an empty text, want 100", n)
	}
}

// Statements that report whether they inserted a row do so for each row, combined
// or not, and a row that cannot be stored fails like a statement of its own.
func rowsAlikeThatExist(t *testing.T, open func() *store.Store) {
	s := open()
	storetest.Exec(t, s, `CREATE TABLE claimed (org_no BIGINT NOT NULL, no BIGINT NOT NULL, word TEXT NOT NULL, PRIMARY KEY (org_no, no))`)
	if s.Database().Dialect().Distributed {
		storetest.Texts(t, s, 0, `SELECT create_distributed_table('claimed', 'org_no', colocate_with => 'patient')`)
		s = open()
	}
	const insert = `INSERT INTO claimed (org_no, no, word) VALUES ($1, $2, $3)`
	claim := func(tx engine.Tx, from, to int64) (claimed []int64, err error) {
		var stmts []engine.Stmt
		for no := from; no < to; no++ {
			stmts = append(stmts, engine.Stmt{SQL: insert + ` ON CONFLICT DO NOTHING`, Args: []any{int64(1), no, "claimed"}, Alike: 1,
				Changed: func(rows int64) {
					if rows > 0 {
						claimed = append(claimed, no)
					}
				}})
		}
		return claimed, tx.Many(stmts...)
	}
	between := func(from, to int64) (all []int64) {
		for no := from; no < to; no++ {
			all = append(all, no)
		}
		return all
	}
	write := func(do func(tx engine.Tx) error) error { return s.Database().Write(t.Context(), do) }
	for _, step := range []struct {
		from, to int64
		want     []int64
	}{
		{30, 31, between(30, 31)},                                 // alone
		{10, 50, slices.Concat(between(10, 30), between(31, 50))}, // one in the middle exists
		{10, 50, nil}, // all do
		{0, 100, slices.Concat(between(0, 10), between(50, 100))},    // at the beginning
		{99, 132, between(100, 132)},                                 // the first
		{131, 133, between(132, 133)}, {133, 135, between(133, 135)}, // two
	} {
		var got []int64
		if err := write(func(tx engine.Tx) (err error) { got, err = claim(tx, step.from, step.to); return err }); err != nil || !slices.Equal(got, step.want) {
			t.Errorf("from %d to %d: %v, %v; want %v", step.from, step.to, got, err, step.want)
		}
	}
	rows := func(words ...any) (stmts []engine.Stmt) {
		for i, word := range words {
			stmts = append(stmts, engine.Stmt{SQL: insert, Args: []any{int64(2), int64(i), word}, Alike: 1})
		}
		return stmts
	}
	for name, stmts := range map[string][]engine.Stmt{
		"a missing word":   rows("a", "b", "c", nil, "e", "f", "g", "h", "i"),
		"a row twice":      slices.Concat(rows("a", "b"), rows("c")),
		"a row that is so": slices.Concat(rows("a", "b", "c", "d"), []engine.Stmt{{SQL: insert, Args: []any{int64(1), int64(30), "e"}, Alike: 1}}),
	} {
		if err := write(func(tx engine.Tx) error { return tx.Many(stmts...) }); err == nil {
			t.Errorf("%s: stored", name)
		}
	}
	if n := storetest.Number(t, s, `SELECT count(*) FROM claimed WHERE org_no = 2`); n != 0 {
		t.Errorf("%d rows of writes that failed", n)
	}
	// A claim that fails for another reason is not taken for a row that exists.
	err := write(func(tx engine.Tx) error {
		var stmts []engine.Stmt
		for no := range int64(4) {
			var word any = "word"
			if no == 2 {
				word = nil
			}
			stmts = append(stmts, engine.Stmt{SQL: insert + ` ON CONFLICT DO NOTHING`, Args: []any{int64(3), no, word}, Alike: 1, Changed: func(int64) {}})
		}
		return tx.Many(stmts...)
	})
	if n := storetest.Number(t, s, `SELECT count(*) FROM claimed WHERE org_no = 3`); err == nil || n != 0 {
		t.Errorf("%v, and %d rows", err, n)
	}
}
