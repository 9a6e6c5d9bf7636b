package denoise

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/upload"
)

// Path is where recordings are sent.
const Path = "/denoise"

// Mount adds the route to an API. The work is charged in books.
func Mount(a *api.API, books api.Books) {
	file := api.Bytes("application/octet-stream")
	file.Description = "The recording."
	a.Handle(api.Route{Access: api.Service, Scope: api.Denoising, Operation: huma.Operation{
		Method: http.MethodPost, Path: Path, OperationID: "denoise", Tags: []string{"Speech"},
		Summary: "Remove the noise from a recording",
		Description: "Steady noise goes (hiss, hum, a car, a fan); other people's voices stay. The file is WAV, or MP3, AAC, Ogg, WebM, MP4 " +
			"or FLAC where the server can read these; its content decides, not its name. At most 25 MB and two hours. The answer has one " +
			"channel, the rate of the recording and exactly its length. Charged by the second of audio.",
		MaxBodyBytes: upload.MaxBody,
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"audio/*": {Schema: file},
			"multipart/form-data": {Schema: &huma.Schema{Type: "object", Required: []string{"audio"},
				Properties: map[string]*huma.Schema{"audio": file}}},
		}},
		Responses: map[string]*huma.Response{"200": {Description: "The cleaned recording, 16-bit PCM",
			Content: map[string]*huma.MediaType{"audio/wav": {Schema: api.Bytes("audio/wav")}},
			Headers: map[string]*huma.Param{"X-Audio-Duration-Seconds": {
				Description: "How long it is: what was charged.", Schema: &huma.Schema{Type: "number"}, Example: 12.5}},
		}},
		Errors: []int{http.StatusPaymentRequired, http.StatusUnsupportedMediaType},
	}}, New(books))
}
