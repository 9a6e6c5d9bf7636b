package dashboard

import (
	"bytes"
	"embed"
	"io/fs"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/asset"
)

// The widget is a button that pages of other sites load with one script tag: /widget.js,
// and behind it modules of its own and those of the playground.

//go:embed widget static/voice/views.js
var widgetFiles embed.FS

// widgetNames are what a page of another site loads. Their folders stay as they are,
// because modules import each other by relative paths.
var widgetNames = append(clientModules(), "widget/talk.js", "widget/orb.js", "widget/style.js", "widget/words.js", voiceFolder+"/views.js")

const widgetHome = "/widget"

// mountWidget adds the script, and what it loads under addresses with a hash. With the
// hash of another version, which a page may have that is older than this server or was
// given its script by another node, the files are those of this version and not kept.
func mountWidget(a *api.API) {
	files := asset.NewSet(withClient{widgetFiles}, widgetHome, widgetNames...)
	for _, f := range files.Files {
		share(a, f.Path, f)
	}
	others := map[string]*asset.File{}
	for _, name := range widgetNames {
		others[name] = asset.New("/"+name, "no-cache", func() ([]byte, error) { return fs.ReadFile(withClient{widgetFiles}, name) })
	}
	share(a, widgetHome+"/assets/{hash}/{name...}", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := others[r.PathValue("name")]
		if f == nil {
			api.WriteError(w, api.ErrNotFound)
			return
		}
		f.ServeHTTP(w, r)
	}))
	script := asset.New("/widget.js", "public, max-age=300", func() ([]byte, error) {
		text, err := fs.ReadFile(widgetFiles, "widget/loader.js")
		return bytes.Replace(text, []byte("MODULE"), []byte(files.Path("talk.js")), 1), err
	})
	share(a, script.Path, script)
}

// share adds a file that pages of all sites may load, also those that let in only what
// says so itself (Cross-Origin-Embedder-Policy).
func share(a *api.API, path string, h http.Handler) {
	a.Handle(api.Route{Access: api.Public, Operation: huma.Operation{Method: http.MethodGet, Path: path, Hidden: true}},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
			h.ServeHTTP(w, r)
		}))
}
