package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxFlags is how many flags a type may have: their combinations are its states, and more
// than eight want names. What it embeds and structs without methods that it holds by value
// count as its own; a struct with methods looks after its state itself. Exported fields do
// not count: they are the content of a value, which others set and read.
const maxFlags = 3

// declared is what a package declares: its struct types, and which of its types have methods.
type declared struct {
	structs map[string]*ast.StructType
	methods map[string]bool
}

func (all declared) flags(s *ast.StructType) int {
	n := 0
	for _, f := range s.Fields.List {
		if len(f.Names) > 0 && f.Names[0].IsExported() {
			continue
		}
		each := 0
		switch typ := f.Type.(type) {
		case *ast.Ident:
			if typ.Name == "bool" {
				each = 1
			} else if inner := all.structs[typ.Name]; inner != nil && (f.Names == nil || !all.methods[typ.Name]) {
				each = all.flags(inner)
			}
		case *ast.SelectorExpr:
			if x, ok := typ.X.(*ast.Ident); ok && x.Name == "atomic" && typ.Sel.Name == "Bool" {
				each = 1
			}
		case *ast.StructType:
			each = all.flags(typ)
		}
		n += each * max(1, len(f.Names))
	}
	return n
}

// flagged lists the types of some files of one package that have too many flags.
func flagged(files []*ast.File) []string {
	all := declared{map[string]*ast.StructType{}, map[string]bool{}}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch d := n.(type) {
			case *ast.TypeSpec:
				if s, ok := d.Type.(*ast.StructType); ok {
					all.structs[d.Name.Name] = s
				}
			case *ast.FuncDecl:
				if d.Recv != nil {
					all.methods[receiver(d.Recv.List[0].Type)] = true
				}
			}
			return true
		})
	}
	var found []string
	for name, s := range all.structs {
		if n := all.flags(s); n > maxFlags {
			found = append(found, fmt.Sprintf("%s has %d flags, %d at most", name, n, maxFlags))
		}
	}
	slices.Sort(found)
	return found
}

// receiver is the name of a method's type.
func receiver(e ast.Expr) string {
	switch typ := e.(type) {
	case *ast.StarExpr:
		return receiver(typ.X)
	case *ast.IndexExpr:
		return receiver(typ.X)
	case *ast.IndexListExpr:
		return receiver(typ.X)
	case *ast.Ident:
		return typ.Name
	}
	return ""
}

func TestFlags(t *testing.T) {
	set := token.NewFileSet()
	byPackage := map[string][]*ast.File{}
	for _, path := range files(t, func(path string) bool {
		return isGo(path) && !strings.HasSuffix(path, "_test.go") && !isTestPackage(filepath.Dir(path))
	}) {
		f, err := parser.ParseFile(set, path, read(t, path), parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		byPackage[filepath.Dir(path)] = append(byPackage[filepath.Dir(path)], f)
	}
	for dir, files := range byPackage {
		for _, what := range flagged(files) {
			t.Errorf("%s: %s: name the states", dir, what)
		}
	}
}

// TestFlagsAreSeen: flags are counted where they hide.
func TestFlagsAreSeen(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
		type few struct { a, b, c bool; p *many }
		type half struct { a, b bool }
		type many struct { half; one struct{ c bool }; d atomic.Bool }
		type component struct { a, b, c bool }
		func (component) M() {}
		type whole struct { a bool; c component }
		type document struct { half; A, B bool `+"`json:\"a\"`"+` }`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if got := flagged([]*ast.File{f}); len(got) != 1 || !strings.HasPrefix(got[0], "many has 4 flags") {
		t.Error(got)
	}
}
