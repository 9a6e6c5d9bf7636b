package store_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"parley/store/storetest"
)

// withSQL are the packages whose queries are prepared, from this one.
var withSQL = []string{".", "./ledger", "./ledger/verify", "./campaign", "./people", "./history", "./webhook"}

// TestEveryQueryCanBePrepared has the database parse each query that stands in the source as
// a constant, or as one that ends with a condition made at run time. So a query that names a
// column which is not there fails here, and not in the first call that needs it.
func TestEveryQueryCanBePrepared(t *testing.T) {
	url := storetest.URL(t)
	if err := storetest.Open(t, url).Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	found := queries(t)
	if len(found) < 300 {
		t.Errorf("%d queries in the source: are they still found?", len(found))
	}
	for at, sql := range found {
		if _, err := conn.Prepare(t.Context(), "", sql); err != nil {
			t.Errorf("%s: %v\n%s", at, err, sql)
		}
	}
}

var statement = regexp.MustCompile(`^\s*(select|insert into|update|delete from|with)\b`)

// senders are the functions that take a query.
var senders = []string{"Exec", "Query", "QueryRow", "Queue", "One", "Must", "List", "First", "Rows", "Row", "ListPage", "PageRows", "Value", "Scalar", "Do"}

// queries returns those of withSQL by where they stand.
func queries(t *testing.T) map[string]string {
	t.Helper()
	list := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly"}, withSQL...)...)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
		DepOnly                 bool
	}
	var own []listed
	exports := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if exports[p.ImportPath] = p.Export; !p.DepOnly {
			own = append(own, p)
		}
	}
	set := token.NewFileSet()
	conf := types.Config{Importer: importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	found := map[string]string{}
	for _, p := range own {
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		if _, err := conf.Check(p.ImportPath, set, files, info); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !slices.Contains(senders, called(call.Fun)) {
					return true
				}
				for _, arg := range call.Args {
					if sql, whole := text(info, arg); statement.MatchString(sql) && whole {
						found[set.Position(arg.Pos()).String()] = sql
					}
				}
				return true
			})
		}
	}
	return found
}

// called is the name of a function that is called.
func called(fun ast.Expr) string {
	switch f := fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.IndexExpr:
		return called(f.X)
	}
	return ""
}

// text is a string's constant beginning; whole says that nothing constant follows it: a
// condition made at run time, such as a page's bounds, may.
func text(info *types.Info, e ast.Expr) (sql string, whole bool) {
	gap := false
	for _, part := range operands(e) {
		v := info.Types[part].Value
		switch {
		case v == nil || v.Kind() != constant.String:
			gap = true
		case gap:
			return "", false
		default:
			sql += constant.StringVal(v)
		}
	}
	return sql, !strings.HasSuffix(sql, "from ") // else the table is not known either
}

// operands are the parts of a sum.
func operands(e ast.Expr) []ast.Expr {
	if sum, ok := e.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
		return append(operands(sum.X), operands(sum.Y)...)
	}
	return []ast.Expr{e}
}
