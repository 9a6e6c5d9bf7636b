package knowledge

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"parley/store"
)

const (
	// MaxFound is how many passages a search returns at most.
	MaxFound = 5
	// maxQuery bounds what is searched for, in bytes: more than anybody says in a turn that asks one thing.
	maxQuery = 1000
	// maxRanked bounds the passages that are compared: words that more have say little, and ranking reads each.
	maxRanked = 20_000
	// enough is how many passages with all of the words are found so well that others are not looked for.
	enough = 3
)

// Found is a passage that fits what was searched for.
type Found struct {
	Base     string
	Document string
	Title    string // of the document
	Source   string // its file's name, or its address
	No       int    // the passage's number in it, from 0
	Page     int    // the first that it is on, from 1; 0: the document has none
	Heading  string // the one that it stands under, or empty
	Text     string
	// Rank compares passages of one search; higher fits better. Those with all of the words have at least 1, unless
	// passages were found by their meaning as well.
	Rank float64
}

// configurationOf is PostgreSQL's configuration of a collection b. Literals have the planner know it.
var configurationOf = func() string {
	var b strings.Builder
	b.WriteString("case split_part(replace(lower(b.language), '_', '-'), '-', 1)")
	for _, code := range slices.Sorted(maps.Keys(configurations)) {
		b.WriteString(" when '" + code + "' then '" + configurations[code] + "'::regconfig")
	}
	b.WriteString(" else '" + simple + "'::regconfig end")
	return b.String()
}()

// search finds passages of collections by a query q of their words, of which wanted makes one in the language of a
// collection. Each collection is searched by itself, since the words of each have a language of their own.
func search(wanted, rank string) string {
	return `with asked as materialized (
			select b.id, b.account_id, ` + wanted + ` q from knowledge_bases b where b.account_id = $1 and b.id = any($2::text[]))
		select f.base_id, f.document_id, d.title, d.source, f.no, f.page, f.heading, f.text, f.rank
		from asked cross join lateral (
			select p.base_id, p.document_id, p.no, p.page, p.heading, p.text, ` + rank + `::float8 rank
			from (select * from knowledge_passages
				where words @@ (('''' || asked.id || '''')::tsquery && asked.q) and account_id = asked.account_id and numnode(asked.q) > 0 limit $5) p
			order by rank desc, p.document_id, p.no limit $4) f
		join knowledge_documents d on d.id = f.document_id
		order by f.rank desc, f.document_id, f.no limit $4`
}

// Ranks are at most 1 (normalization 32); those of passages with all of the words stand above the rest. Of the
// others those come first that have more of the words, where ts_rank_cd counts how often any of them occurs.
var (
	searchAll = search("websearch_to_tsquery("+configurationOf+", $3)", "1 + ts_rank_cd(p.words, asked.q, 32)")
	searchAny = search("replace(replace(plainto_tsquery("+configurationOf+", $3)::text, ' & ', ' | '), ' <-> ', ' | ')::tsquery", "ts_rank(p.words, asked.q, 32)")
)

// Search finds the passages of collections of the account that fit best, at most limit and MaxFound, the best first.
// A query is read as web searches are: all of its words, "in one place" where it says so, -not. Where that finds too
// little, passages with any of the words follow. Where embeddings are in use the passages that are nearest by their
// meaning are merged into these, if their vectors are there in time, and the query has no -not. Collections that are not
// the account's find nothing.
func (s *Store) Search(ctx context.Context, account string, bases []string, query string, limit int) ([]Found, error) {
	began := time.Now()
	query = clean(query)
	limit = min(limit, MaxFound)
	if query == "" || len(bases) == 0 || limit <= 0 {
		return []Found{}, nil
	}
	if s.nearest == nil || refuses(query) {
		return s.words(ctx, account, bases, query, limit)
	}
	near := s.nearest.begin(ctx, account, bases, query)
	found, err := s.words(ctx, account, bases, query, candidates)
	if err != nil {
		return nil, err
	}
	hits := s.nearest.wait(ctx, began, near)
	if len(hits) > 0 {
		merged, err := s.fused(ctx, account, found, hits, limit)
		if err == nil {
			return merged, nil
		}
		s.nearest.log.Warn("documents are searched by their words alone", "account", account, "err", err)
	}
	return found[:min(len(found), limit)], nil
}

// words is a search by words.
func (s *Store) words(ctx context.Context, account string, bases []string, query string, limit int) ([]Found, error) {
	const op = "search knowledge"
	found, err := store.List[Found](ctx, s.db, op, searchAll, account, bases, query, limit, maxRanked)
	if err != nil || len(found) >= min(enough, limit) || refuses(query) {
		return found, err
	}
	others, err := store.List[Found](ctx, s.db, op, searchAny, account, bases, query, limit, maxRanked)
	if err != nil {
		return nil, err
	}
	for _, o := range others {
		if !slices.ContainsFunc(found, func(f Found) bool { return f.Document == o.Document && f.No == o.No }) {
			found = append(found, o)
		}
	}
	slices.SortStableFunc(found, func(a, b Found) int { return cmp.Compare(b.Rank, a.Rank) })
	return found[:min(len(found), limit)], nil
}

// refuses says whether a query names what is not wanted.
func refuses(query string) bool {
	return strings.HasPrefix(query, "-") || strings.Contains(query, " -")
}

// clean is a query as PostgreSQL takes it: valid, and not too long.
func clean(query string) string {
	query = strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(query, " "), "\x00", " "))
	if len(query) > maxQuery {
		query = query[:maxQuery]
		for !utf8.ValidString(query) {
			query = query[:len(query)-1]
		}
	}
	return query
}
