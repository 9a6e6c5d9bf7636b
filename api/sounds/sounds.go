// Package sounds serves the sounds of an account, which callers hear while somebody is called for them, under /v1/sounds.
package sounds

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/upload"
	"parley/api/wire"
	"parley/media/g722"
	"parley/media/hold"
	"parley/media/transcode"
	"parley/media/wav"
	"parley/store"
	"parley/store/sounds"
)

const (
	path = "/v1/sounds"
	// atOnce bounds the recordings in memory, of 25 MB each, and the decoded sounds of 6 MB.
	atOnce = 4
	// gateWait is how long a request waits for room before it is refused.
	gateWait = 10 * time.Second
)

// service serves the routes.
type service struct {
	kept *sounds.Store
	gate *upload.Gate
}

var routes = api.Managed("Sounds")

// Mount adds the routes.
func Mount(a *api.API, db *store.DB) {
	s := &service{sounds.New(db), upload.NewGate(atOnce, gateWait)}
	api.Register(a, routes.Get(path, "list-sounds", "List the account's sounds", "The newest first."), s.list)
	a.Handle(adding(a.Document().Components.Schemas), api.HandlerFunc(s.add))
	audio := routes.Get(path+"/{id}/audio", "get-sound-audio", "Fetch the audio of a sound", "As it is played: one channel at 16 kHz, 16 bits.",
		http.StatusNotFound, http.StatusServiceUnavailable)
	audio.Parameters = []*huma.Param{{Name: "id", In: "path", Required: true, Description: "The sound's identifier.",
		Schema: &huma.Schema{Type: huma.TypeString}, Example: "snd_06er5bt0v9k1o7m2q3s4t5u6v0"}}
	audio.Responses = map[string]*huma.Response{"200": {Description: "The sound", Content: map[string]*huma.MediaType{"audio/wav": {Schema: api.Bytes("audio/wav")}}}}
	a.Handle(audio, api.HandlerFunc(s.audio))
	api.Register(a, routes.Delete(path+"/{id}", "delete-sound", "Delete a sound",
		"Calls in which it plays go on with it. After them callers of agents that name it hear the ringing tone.", http.StatusNotFound), s.remove)
}

// adding describes the route that adds a sound.
func adding(schemas huma.Registry) api.Route {
	file := api.Bytes("application/octet-stream")
	file.Description = "The recording."
	name := func() *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Description: "What the sound is called: 1 to 100 characters, in one line.", Examples: []any{"Waltz"}}
	}
	r := routes.Post(path, "add-sound", "Add a sound",
		"Callers of agents that name it in `settings.hold_sound` hear it while this server calls somebody for them, again and again. The file is WAV, or MP3, AAC, Ogg, "+
			"WebM, MP4 or FLAC where the server can read these; at most 25 MB and three minutes. It is kept as telephones play it (G.722), and fades for "+
			"10 ms at both ends. An account has 32 sounds at most. It costs nothing.",
		http.StatusUnsupportedMediaType, http.StatusServiceUnavailable)
	r.MaxBodyBytes = upload.MaxBody
	r.Parameters = []*huma.Param{{Name: "name", In: "query", Description: "What the sound is called, where the form does not say it.", Schema: name(), Example: "Waltz"}}
	r.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"audio/*":             {Schema: file},
		"multipart/form-data": {Schema: &huma.Schema{Type: "object", Required: []string{"audio"}, Properties: map[string]*huma.Schema{"audio": file, "name": name()}}},
	}}
	r.Responses = map[string]*huma.Response{strconv.Itoa(http.StatusCreated): {Description: "The sound",
		Content: map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[wire.Sound](), true, "")}}}}
	return r.Repeatable()
}

func view(s *sounds.Sound) wire.Sound {
	return wire.Sound{ID: s.ID, Name: s.Name, DurationMS: s.Duration().Milliseconds(), CreatedAt: s.CreatedAt}
}

func (s *service) list(ctx context.Context, in *api.Paging) (*api.Listed[wire.Sound], error) {
	return api.Pages(in.Limit, func(s sounds.Sound) string { return s.ID }, view)(s.kept.List(ctx, api.AccountOf(ctx), in.Page()))
}

type one struct {
	ID string `path:"id" doc:"The sound's identifier." maxLength:"64" example:"snd_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

func (s *service) remove(ctx context.Context, in *one) (*struct{}, error) {
	return nil, s.kept.Delete(ctx, api.AccountOf(ctx), in.ID)
}

func (s *service) add(w http.ResponseWriter, r *http.Request) error {
	if err := upload.CheckType(r); err != nil {
		return err
	}
	account := api.AccountOf(r.Context())
	leave, err := s.gate.Enter(r.Context(), account)
	if err != nil {
		return err
	}
	defer leave()
	file, err := upload.Read(w, r)
	if err != nil {
		return err
	}
	name := cmp.Or(file.Fields["name"], r.URL.Query().Get("name"))
	codes, err := coded(r.Context(), file.Data)
	if err != nil {
		return err
	}
	added, err := s.kept.Add(r.Context(), account, name, codes)
	if err != nil {
		return err
	}
	api.WriteJSON(w, http.StatusCreated, view(added))
	return nil
}

// coded is a recording as it is kept.
func coded(ctx context.Context, file []byte) ([]byte, error) {
	clip, err := transcode.Decode(ctx, file, transcode.Options{Rate: g722.Rate, Limits: transcode.Limits{Duration: sounds.MaxLength}})
	if errors.Is(err, transcode.ErrTooLong) {
		return nil, api.Detail(api.ErrTooLarge, "A sound may last three minutes.")
	}
	if err != nil {
		return nil, upload.Fault(err)
	}
	defer clip.Close()
	samples := make([]int16, clip.Samples())
	n, err := clip.Open().Read(samples)
	if err != nil {
		return nil, err
	}
	return hold.Encode(samples[:n]), nil
}

func (s *service) audio(w http.ResponseWriter, r *http.Request) error {
	account, id := api.AccountOf(r.Context()), r.PathValue("id")
	if !api.Storable(id) {
		return api.ErrNotFound
	}
	leave, err := s.gate.Enter(r.Context(), account)
	if err != nil {
		return err
	}
	defer leave()
	codes, err := s.kept.Audio(r.Context(), account, id)
	if err != nil {
		return err
	}
	var file bytes.Buffer
	if err := wav.Encode(&file, wav.Clip{Samples: hold.Decode(codes), Rate: g722.Rate}); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "audio/wav")
	w.Header().Set("Content-Length", strconv.Itoa(file.Len()))
	_, _ = w.Write(file.Bytes()) // the client has gone
	return nil
}
