package clienttest

import (
	"bytes"
	"io"
	"net/http"

	"parley/api/wire"
	"parley/media"
	"parley/media/wav"
)

// Waltz is the sound that the server has.
const Waltz = "snd_06er5bt0v9k1o7m2q3s4t5u6v0"

// sounds serves it.
func sounds(mux *http.ServeMux) {
	sound := func(name string) wire.Sound {
		return wire.Sound{ID: Waltz, Name: name, DurationMS: 42_000, CreatedAt: stocked}
	}
	known := func(serve http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.PathValue("id") != Waltz {
				nothing(w)
				return
			}
			serve(w, r)
		}
	}
	mux.HandleFunc("GET /v1/sounds", func(w http.ResponseWriter, r *http.Request) {
		answer(w, 200, map[string]any{"data": []any{sound("Waltz")}, "has_more": false, "next_cursor": nil})
	})
	mux.HandleFunc("POST /v1/sounds", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // what is wrong is judged
		answer(w, http.StatusCreated, sound(r.URL.Query().Get("name")))
	})
	mux.HandleFunc("GET /v1/sounds/{id}/audio", known(func(w http.ResponseWriter, r *http.Request) {
		var file bytes.Buffer
		_ = wav.Encode(&file, wav.Clip{Samples: make([]int16, 1600), Rate: media.Rate16k}) // into memory
		w.Header().Set("Content-Type", "audio/wav")
		_, _ = w.Write(file.Bytes())
	}))
	mux.HandleFunc("DELETE /v1/sounds/{id}", known(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
}
