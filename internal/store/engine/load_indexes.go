package engine

import "encoding/json"

// Rows are restored in the order of their tables' keys. In the order of any other
// index their places are random: once the index is larger than the page cache,
// every row would read and write another page of it. So a restore drops the
// indexes and creates them when all rows are there, which sorts them. Their
// definitions are in a setting until then.

// dropIndexes drops the indexes of a database without rows.
func (l *Loading) dropIndexes(tx Tx) error {
	if l.dialect().indexes == "" {
		return nil
	}
	var drops, definitions []string
	if err := tx.Query(l.dialect().indexes, func(r Row) error {
		drops, definitions = append(drops, "DROP INDEX "+r.Text(0)), append(definitions, r.Text(1))
		return nil
	}); err != nil {
		return err
	}
	if err := execAll(tx, drops); err != nil {
		return err
	}
	list, err := json.Marshal(definitions)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO setting (name, value) VALUES ('unindexed', $1)`, list)
	return err
}

// createIndexes creates the indexes that dropIndexes has dropped.
func (l *Loading) createIndexes(tx Tx) error {
	if l.dialect().indexes == "" {
		return nil
	}
	definitions, err := droppedIndexes(tx)
	if err != nil {
		return err
	}
	return execAll(tx, append(definitions, `DELETE FROM setting WHERE name = 'unindexed'`))
}

// droppedIndexes returns the definitions of the dropped indexes.
func droppedIndexes(tx Tx) (definitions []string, err error) {
	err = tx.Query(`SELECT value FROM setting WHERE name = 'unindexed'`, func(r Row) error { return json.Unmarshal(r.Raw(0), &definitions) })
	return definitions, err
}

func execAll(tx Tx, list []string) error {
	for _, sql := range list {
		if _, err := tx.Exec(sql); err != nil {
			return err
		}
	}
	return nil
}
