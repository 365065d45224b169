package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var snakeCase = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// hashed are the functions whose JSON is hashed and thrown away. Other keys would
// give other hashes.
var hashed = []string{"(*" + module + "/generate.Config).run"}

// TestJSONKeys holds every struct that the program writes as JSON to keys in
// snake_case, given by a tag.
func TestJSONKeys(t *testing.T) {
	c := &jsonChecker{t: t, seen: map[types.Type]bool{}, passesOn: map[*types.Func]int{}}
	pkgs := load(t)
	// A function that passes a parameter of its own on to package json, or to
	// another such function, has its callers' arguments looked at.
	for known := -1; known < len(c.passesOn); {
		known = len(c.passesOn)
		for _, p := range pkgs {
			c.visit(p, c.learn)
		}
	}
	for _, p := range pkgs {
		c.visit(p, c.check)
	}
	if len(c.seen) < 50 || len(c.passesOn) == 0 {
		t.Errorf("found %d types of JSON values and %d functions that pass them on: the rule would be vacuous", len(c.seen), len(c.passesOn))
	}
}

// source is a package of ours, parsed and typed, without its tests.
type source struct {
	files []*ast.File
	info  *types.Info
}

// load types the packages of the module against what the compiler has written of
// those they import.
func load(t *testing.T) []source {
	t.Helper()
	cmd := exec.Command("go", "list", "-pgo=off", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
	}
	exports := map[string]string{}
	var ours []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("go list output: %v", err)
		}
		exports[p.ImportPath] = p.Export
		if strings.HasPrefix(p.ImportPath, module+"/") {
			ours = append(ours, p)
		}
	}
	files := token.NewFileSet()
	conf := types.Config{Importer: importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	sources := make([]source, 0, len(ours))
	for _, p := range ours {
		s := source{info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}}
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			s.files = append(s.files, f)
		}
		if _, err := conf.Check(p.ImportPath, files, s.files, s.info); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, s)
	}
	return sources
}

// jsonChecker looks for values that become JSON.
type jsonChecker struct {
	t        *testing.T
	seen     map[types.Type]bool
	passesOn map[*types.Func]int // index of the parameter that becomes JSON
}

// visit calls do with every expression of p that package json is given, and the
// function that it stands in.
func (c *jsonChecker) visit(p source, do func(p source, in *ast.FuncDecl, value ast.Expr)) {
	for _, f := range p.files {
		for _, d := range f.Decls {
			in, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(in, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if i := c.valueOf(p, call); i >= 0 && i < len(call.Args) {
						do(p, in, call.Args[i])
					}
				}
				return true
			})
		}
	}
}

// valueOf returns which argument of a call becomes JSON, −1 if none does.
func (c *jsonChecker) valueOf(p source, call *ast.CallExpr) int {
	var name *ast.Ident
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f
	case *ast.SelectorExpr:
		name = f.Sel
	default:
		return -1
	}
	f, ok := p.info.Uses[name].(*types.Func)
	if !ok {
		return -1
	}
	switch f.FullName() {
	case "encoding/json.Marshal", "encoding/json.MarshalIndent", "(*encoding/json.Encoder).Encode":
		return 0
	}
	if i, ok := c.passesOn[f]; ok {
		return i
	}
	return -1
}

// learn notes a function whose parameter becomes JSON.
func (c *jsonChecker) learn(p source, in *ast.FuncDecl, value ast.Expr) {
	name, ok := value.(*ast.Ident)
	if !ok {
		return
	}
	f := p.info.Defs[in.Name].(*types.Func)
	params := f.Signature().Params()
	for i := range params.Len() {
		if v := params.At(i); v == p.info.Uses[name] && types.IsInterface(v.Type()) {
			c.passesOn[f] = i
		}
	}
}

// check looks at a value that becomes JSON in a function.
func (c *jsonChecker) check(p source, in *ast.FuncDecl, value ast.Expr) {
	f, t := p.info.Defs[in.Name].(*types.Func), p.info.TypeOf(value)
	_, passed := c.passesOn[f]
	switch {
	case slices.Contains(hashed, f.FullName()):
	case !types.IsInterface(t):
		c.walk(t, t.String())
	case !passed:
		c.t.Errorf("%s: a value of type %s becomes JSON: found no type to check", f.FullName(), t)
	}
}

// walk checks a type and those of its parts.
func (c *jsonChecker) walk(t types.Type, path string) {
	if c.seen[t] {
		return
	}
	c.seen[t] = true
	if named, ok := types.Unalias(t).(*types.Named); ok {
		for _, method := range []string{"MarshalJSON", "MarshalText"} {
			if f, _, _ := types.LookupFieldOrMethod(types.NewPointer(named), true, named.Obj().Pkg(), method); f != nil {
				return
			}
		}
		path = named.Obj().Name()
		if pkg := named.Obj().Pkg(); pkg != nil {
			path = short(pkg.Path()) + "." + path
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		c.walk(u.Elem(), path)
	case *types.Slice:
		c.walk(u.Elem(), path)
	case *types.Array:
		c.walk(u.Elem(), path)
	case *types.Map:
		c.walk(u.Elem(), path)
	case *types.Struct:
		for i := range u.NumFields() {
			c.field(u.Field(i), reflect.StructTag(u.Tag(i)).Get("json"), path)
		}
	}
}

func (c *jsonChecker) field(f *types.Var, tag, path string) {
	if tag == "-" || !f.Exported() && !f.Embedded() {
		return
	}
	key, _, _ := strings.Cut(tag, ",")
	if !(f.Embedded() && key == "") && !snakeCase.MatchString(key) {
		c.t.Errorf("%s.%s: found JSON key %q, expected a tag in snake_case", path, f.Name(), key)
	}
	c.walk(f.Type(), path+"."+f.Name())
}
