package tidy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
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
)

// usage is which functions and methods of some packages the product's code calls, or hands
// on, and which of their methods it may call through an interface.
type usage struct {
	set     *token.FileSet
	imports types.Importer
	targets []string // import paths
	used    map[string]bool
}

// isTestPackage recognises packages that are there for tests alone.
func isTestPackage(path string) bool { return strings.HasSuffix(path, "test") }

// check reads one package: it notes what the package uses of the targets.
func (u *usage) check(path string, files []*ast.File) (*types.Package, error) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: u.imports}
	p, err := conf.Check(path, u.set, files, info)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		for _, d := range file.Decls {
			own := ""
			if f, ok := d.(*ast.FuncDecl); ok {
				own = info.Defs[f.Name].(*types.Func).FullName() // calling itself is no use
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					if f, ok := info.Uses[id].(*types.Func); ok && f.Origin().FullName() != own {
						u.used[f.Origin().FullName()] = true
					}
				}
				return true
			})
		}
	}
	u.satisfied(p, info)
	return p, nil
}

// satisfied notes the methods of targets by which a type satisfies an interface that the package
// writes, or finds in a package that it imports. The type is one of a target, or one that the
// package writes, which may have the methods of several targets because it embeds them.
func (u *usage) satisfied(p *types.Package, info *types.Info) {
	wanted := []*types.Interface{types.Universe.Lookup("error").Type().Underlying().(*types.Interface)}
	var having []types.Type
	for _, tv := range info.Types {
		if i, ok := tv.Type.Underlying().(*types.Interface); ok && tv.IsType() {
			wanted = append(wanted, i)
		}
		if _, ok := tv.Type.Underlying().(*types.Struct); ok && tv.IsType() {
			having = append(having, tv.Type)
		}
	}
	for _, from := range append(p.Imports(), p) {
		for _, name := range from.Scope().Names() {
			t, ok := from.Scope().Lookup(name).(*types.TypeName)
			if !ok || from != p && !t.Exported() {
				continue
			}
			if i, ok := t.Type().Underlying().(*types.Interface); ok {
				wanted = append(wanted, i)
			} else if from == p || slices.Contains(u.targets, from.Path()) {
				having = append(having, t.Type())
			}
		}
	}
	for _, t := range having {
		for _, i := range wanted {
			if i.NumMethods() == 0 || !types.Implements(types.NewPointer(t), i) {
				continue
			}
			for m := range i.Methods() {
				got, _, _ := types.LookupFieldOrMethod(t, true, p, m.Name())
				if f, ok := got.(*types.Func); ok {
					u.used[f.Origin().FullName()] = true
				}
			}
		}
	}
}

// byErrors are the methods of errors that package errors looks for.
var byErrors = []string{"Unwrap", "Is", "As"}

// exported lists the exported functions and methods of a package, as FullName writes them.
func exported(p *types.Package) (names []string) {
	for _, name := range p.Scope().Names() {
		switch o := p.Scope().Lookup(name).(type) {
		case *types.Func:
			if o.Exported() {
				names = append(names, o.FullName())
			}
		case *types.TypeName:
			if named, ok := o.Type().(*types.Named); ok && o.Exported() && !types.IsInterface(named) && !o.IsAlias() {
				for m := range named.Methods() {
					if m.Exported() && !slices.Contains(byErrors, m.Name()) {
						names = append(names, m.FullName())
					}
				}
			}
		}
	}
	return names
}

// built is a package with the file that says what it exports.
type built struct {
	ImportPath, Dir, Export string
	GoFiles, CgoFiles       []string
}

func builtPackages(t *testing.T) (all []built) {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,CgoFiles", "./...")
	cmd.Dir = root(t)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var b built
		if err := dec.Decode(&b); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
}

// inTemplates are the names that pages ask of what they show.
func inTemplates(t *testing.T) map[string]bool {
	names, asked := map[string]bool{}, regexp.MustCompile(`\.([A-Z]\w*)`)
	for _, path := range files(t, func(p string) bool { return strings.Contains(p, "/template/") }) {
		for _, m := range asked.FindAllStringSubmatch(read(t, path), -1) {
			names[m[1]] = true
		}
	}
	return names
}

func TestTheStoreHasNothingUnused(t *testing.T) {
	all := builtPackages(t)
	u := &usage{set: token.NewFileSet(), used: map[string]bool{}}
	u.imports = importer.ForCompiler(u.set, "gc", func(path string) (io.ReadCloser, error) {
		for _, b := range all {
			if b.ImportPath == path {
				return os.Open(b.Export)
			}
		}
		return nil, fmt.Errorf("no package %s", path)
	})
	for _, b := range all {
		if part(ours(b.ImportPath)) == "store" && !isTestPackage(b.ImportPath) {
			u.targets = append(u.targets, b.ImportPath)
		}
	}
	var offered []string
	for _, b := range all {
		if ours(b.ImportPath) == "" || isTestPackage(b.ImportPath) || len(b.CgoFiles) > 0 {
			continue
		}
		var parsed []*ast.File
		for _, name := range b.GoFiles {
			file, err := parser.ParseFile(u.set, filepath.Join(b.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, file)
		}
		p, err := u.check(b.ImportPath, parsed)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(u.targets, b.ImportPath) {
			offered = append(offered, exported(p)...)
		}
	}
	pages := inTemplates(t)
	for _, name := range offered {
		if !u.used[name] && !pages[name[strings.LastIndex(name, ".")+1:]] {
			t.Errorf("%s has no caller but tests: delete it, or unexport it", name)
		}
	}
}

func TestUnusedRule(t *testing.T) {
	u := &usage{set: token.NewFileSet(), targets: []string{"parley/store"}, used: map[string]bool{}}
	parse := func(text string) []*ast.File {
		file, err := parser.ParseFile(u.set, "a.go", text, 0)
		if err != nil {
			t.Fatal(err)
		}
		return []*ast.File{file}
	}
	text := `package store
type DB struct{}
func (*DB) Called() {}
func (*DB) HandedOn() {}
func (*DB) Wanted() {}
func (*DB) Half() {}
func (*DB) Other() {}
func (*DB) Error() string { return "" }
func (*DB) Alone() { (*DB).Alone(nil) }
func (*DB) Unwrap() error { return nil }
func (*DB) own() {}
type hidden struct{}
func (hidden) Alone() {}
type List[T any] struct{}
func (List[T]) Len() int { return 0 }
func (List[T]) Cap() int { return 0 }
type Ledger struct{}
func (*Ledger) Rest() {}
func (*Ledger) Missing() {}
func Open() {}
func Closed() { Open() }
`
	p, err := u.check("parley/store", parse(text))
	if err != nil {
		t.Fatal(err)
	}
	u.imports = only{p}
	text = `package api
import "parley/store"
type wanter interface{ Wanted() }
type whole interface{ Half(); Rest() }
type both struct { *store.DB; *store.Ledger }
type never interface{ Other(); Missing(); None() }
func f(db *store.DB, l store.List[int]) { db.Called(); g(db.HandedOn); l.Len() }
func g(func()) {}
`
	if _, err := u.check("parley/api", parse(text)); err != nil {
		t.Fatal(err)
	}
	var unused []string
	for _, name := range exported(p) {
		if !u.used[name] {
			unused = append(unused, name)
		}
	}
	if want := []string{"parley/store.Closed", "(*parley/store.DB).Other", "(*parley/store.DB).Alone", "(*parley/store.Ledger).Missing", "(parley/store.List[T]).Cap"}; !slices.Equal(unused, want) {
		t.Errorf("%q", unused)
	}
}

// only imports one package.
type only struct{ p *types.Package }

func (o only) Import(string) (*types.Package, error) { return o.p, nil }
