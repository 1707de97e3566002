package engine

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// reach is the organisations whose rows statements use in distributed tables.
type reach struct {
	all  bool
	orgs []int64
}

func (r *reach) none() bool { return !r.all && len(r.orgs) == 0 }

// meets reports whether one of the organisations is in a set.
func (r *reach) meets(set map[int64]bool) bool {
	return len(set) > 0 && (r.all || slices.ContainsFunc(r.orgs, func(org int64) bool { return set[org] }))
}

// add adds the organisations of a statement.
func (r *reach) add(e *postgresEngine, s *Stmt) {
	use := e.useOf(s.SQL)
	if !use.spread || r.all {
		return
	}
	if use.org == 0 || use.org > len(s.Args) {
		r.all = true
		return
	}
	switch org := s.Args[use.org-1].(type) {
	case int64:
		if !slices.Contains(r.orgs, org) {
			r.orgs = append(r.orgs, org)
		}
	case []int64:
		r.orgs = append(r.orgs, org...)
	default:
		r.all = true
	}
}

// use is how a statement uses distributed tables.
type use struct {
	spread bool
	// org is the number of the argument with the organisation or a list of them,
	// or 0 if the statement concerns all organisations.
	org int
}

var (
	// tableNames finds the names of tables in a statement.
	tableNames = regexp.MustCompile(`\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)`)
	// orgArgument finds the argument with the organisation.
	orgArgument = regexp.MustCompile(`\borg_no = (?:ANY\()?\$(\d+)|\(org_no\b[^)]*\)\s+(?:VALUES \(|SELECT )\$(\d+)`)
)

// useOf returns how a statement uses distributed tables.
func (e *postgresEngine) useOf(sql string) (u use) {
	if e.spread == nil {
		return u
	}
	if known, ok := e.uses.Load(sql); ok {
		return known.(use)
	}
	u.spread = strings.Contains(sql, "run_command_on_workers")
	for _, name := range tableNames.FindAllStringSubmatch(sql, -1) {
		u.spread = u.spread || e.spread[name[1]]
	}
	if found := orgArgument.FindStringSubmatch(sql); u.spread && found != nil {
		u.org, _ = strconv.Atoi(found[1] + found[2])
	}
	e.uses.Store(sql, u)
	return u
}
