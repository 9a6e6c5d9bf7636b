// Package isolatetest finds the places that begin goroutines of calls, and makes each fail.
package isolatetest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/media/isolate"
	"parley/media/isolate/internal/hook"
)

// Site is one place in the source that begins a goroutine, or an item of work, by package isolate.
type Site struct {
	Name string
	Pos  string // file and line
	// Ends says that a panic there ends the call that it serves; else it ends nothing.
	Ends bool
}

// Package is the folder of the site, from the root of the repository.
func (s Site) Package() string { return filepath.Dir(s.Pos) }

// starter is a function that takes a site.
type starter struct {
	at   int  // its place among the arguments
	ends bool // a panic ends a call
}

// starters are those of package isolate. What a panic ends, the argument after the site says.
var starters = map[string]starter{"Go": {0, true}, "Do": {0, true}, "Keep": {1, false}}

// Sites finds all sites in the product code below root. It fails the test for one whose
// name is no string literal, is not below its package, or is that of another one.
func Sites(t testing.TB, root string) []Site {
	t.Helper()
	f := finder{t: t, root: root, set: token.NewFileSet()}
	paths, uses := map[string][]string{}, map[string]bool{} // by folder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		dir := filepath.Dir(path)
		paths[dir] = append(paths[dir], path)
		uses[dir] = uses[dir] || bytes.Contains(text, []byte(`"parley/media/isolate"`))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir := range uses {
		if uses[dir] { // parsing all others takes seconds
			f.wrapped(f.parse(paths[dir]))
		}
	}
	slices.SortFunc(f.sites, func(a, b Site) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(f.sites); i++ {
		if a, b := f.sites[i-1], f.sites[i]; a.Name == b.Name {
			t.Errorf("%s and %s are both called %q", a.Pos, b.Pos, a.Name)
		}
	}
	return f.sites
}

func (f *finder) parse(paths []string) (files []*ast.File) {
	f.t.Helper()
	for _, path := range paths {
		file, err := parser.ParseFile(f.set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			f.t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

type finder struct {
	t     testing.TB
	root  string
	set   *token.FileSet
	sites []Site
}

// wrapped finds the sites of one package. A function that hands a parameter of its own on
// as the site is a starter itself: its callers are the sites.
func (f *finder) wrapped(files []*ast.File) {
	own := map[string]starter{} // functions of the package
	for _, file := range files {
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			f.calls(fn.Body, nil, func(site ast.Expr, ends bool) {
				name, ok := site.(*ast.Ident)
				if !ok {
					return
				}
				at := 0
				for _, p := range fn.Type.Params.List {
					for _, n := range p.Names {
						if n.Name == name.Name {
							own[fn.Name.Name] = starter{at, ends}
						}
						at++
					}
				}
			})
		}
	}
	for _, file := range files {
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				_, wraps := own[fn.Name.Name]
				f.calls(fn.Body, own, func(site ast.Expr, ends bool) { f.add(site, ends, wraps) })
			}
		}
	}
}

// calls finds the calls of starters: package isolate's, and own.
func (f *finder) calls(in ast.Node, own map[string]starter, found func(site ast.Expr, ends bool)) {
	ast.Inspect(in, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == "isolate" {
			if s, ok := starters[sel.Sel.Name]; ok {
				failed, none := call.Args[1].(*ast.Ident)
				found(call.Args[s.at], s.ends && !(none && failed.Name == "nil"))
			}
		} else if s, ok := own[sel.Sel.Name]; ok && s.at < len(call.Args) {
			found(call.Args[s.at], s.ends)
		}
		return true
	})
}

func (f *finder) add(site ast.Expr, ends, wraps bool) {
	at := f.set.Position(site.Pos())
	path, _ := filepath.Rel(f.root, at.Filename)
	literal, ok := site.(*ast.BasicLit)
	if !ok {
		if !wraps {
			f.t.Errorf("%s:%d: the site is not a string literal", path, at.Line)
		}
		return
	}
	name, _ := strconv.Unquote(literal.Value)
	if filepath.Dir(path) != filepath.Dir(name) {
		f.t.Errorf("%s:%d: the site %q should be called %s/...", path, at.Line, name, filepath.Dir(path))
	}
	f.sites = append(f.sites, Site{Name: name, Pos: fmt.Sprintf("%s:%d", path, at.Line), Ends: ends})
}

// patience is how long a panic may take from its place to where it is counted, and a
// goroutine to begin.
const patience = 30 * time.Second

// Each calls prove in a subtest for every site of the package that is tested, and of those
// below it that are named, by their folders as string literals. It must have
// the site fail, with Inject, and check what that ends and what not: the test fails when not
// exactly one panic is counted there.
func Each(t *testing.T, prove func(t *testing.T, s Site), below ...string) {
	for _, s := range own(t, below...) {
		t.Run(filepath.Base(s.Name), func(t *testing.T) {
			before := isolate.Panics()[s.Name]
			prove(t, s)
			n := isolate.Panics()[s.Name] - before
			for end := time.Now().Add(patience); n == 0 && !t.Failed() && time.Now().Before(end); time.Sleep(time.Millisecond) {
				n = isolate.Panics()[s.Name] - before // it is counted after Inject says that it fired
			}
			if n != 1 {
				t.Errorf("%d panics are counted, want 1", n)
			}
		})
	}
}

// own are the sites of the package that is tested, and of other packages.
func own(t testing.TB, others ...string) (sites []Site) {
	t.Helper()
	here, err := filepath.Abs(".")
	root := here
	for err == nil {
		if _, err = os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if parent := filepath.Dir(root); parent != root {
			root, err = parent, nil
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	pkg, _ := filepath.Rel(root, here)
	for _, s := range Sites(t, root) {
		if s.Package() == filepath.ToSlash(pkg) || slices.Contains(others, s.Package()) {
			sites = append(sites, s)
		}
	}
	if len(sites) == 0 {
		t.Errorf("%s has no sites", pkg)
	}
	return sites
}

// Await waits until all sites of the package that is tested are among reached, which Watch
// returned: what stands beside the fault has begun then, and cannot meet it.
func Await(t testing.TB, reached func() map[string]bool) {
	t.Helper()
	for _, s := range own(t) {
		for end := time.Now().Add(patience); !reached()[s.Name]; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("what stands beside the fault does not reach %s", s.Name)
			}
		}
	}
}

// Watch notes which sites are reached until the test ends, or another Watch or Inject; the
// function returns them.
func Watch(t testing.TB) (reached func() map[string]bool) {
	var mu sync.Mutex
	seen := map[string]bool{}
	hook.Set(func(site string) {
		mu.Lock()
		defer mu.Unlock()
		seen[site] = true
	})
	t.Cleanup(func() { hook.Set(nil) })
	return func() map[string]bool {
		mu.Lock()
		defer mu.Unlock()
		list := map[string]bool{}
		for site := range seen {
			list[site] = true
		}
		return list
	}
}

// Inject has whatever reaches the site next panic, once. The test fails when nothing has by
// its end. Tests that use it cannot run beside others of their process.
func Inject(t testing.TB, site string) (fired <-chan struct{}) {
	done := make(chan struct{})
	var once sync.Once
	hook.Set(func(at string) {
		if at != site {
			return
		}
		first := false
		once.Do(func() { first = true; close(done) })
		if first {
			panic("a fault of the test")
		}
	})
	t.Cleanup(func() {
		hook.Set(nil)
		select {
		case <-done:
		default:
			t.Errorf("nothing has reached %s", site)
		}
	})
	return done
}
