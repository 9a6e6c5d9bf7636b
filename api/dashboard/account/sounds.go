package account

import (
	"net/http"
	"time"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/upload"
	"parley/api/wire"
)

const (
	SoundsAt    = page.Home + "/sounds"
	SoundsTitle = "Sounds"
	soundsRoute = "/v1/sounds"
	// soundPatience is how long a browser may take to send a recording.
	soundPatience = time.Minute
)

func soundPages() []page.Page {
	return []page.Page{
		{Route: "GET " + SoundsAt, Serve: soundsPage},
		{Route: "POST " + SoundsAt, Max: upload.MaxBody, Serve: addSound},
		{Route: "POST " + SoundsAt + "/{id}/delete", Serve: deleteSound},
	}
}

// soundsView is the account's sounds.
type soundsView struct {
	Form *page.Form
	Rows []wire.Sound
}

// Length is how long a sound lasts.
func (v *soundsView) Length(s wire.Sound) string {
	return (time.Duration(s.DurationMS) * time.Millisecond).Round(time.Second).String()
}

func newSoundsView(q *page.Request, f *page.Form) (*soundsView, error) {
	list, err := page.Read[api.List[wire.Sound]](q, soundsRoute+"?limit=100")
	return &soundsView{f, list.Data}, err
}

func soundsPage(q *page.Request) error {
	return q.Show("sounds", SoundsTitle)(newSoundsView(q, page.NewForm()))
}

// addSound hands the form to the API, whose fields are the same.
func addSound(q *page.Request) error {
	f := page.NewForm("name", "")
	api.SetBodyPatience(q.W, soundPatience)
	var added wire.Sound
	if err := f.Refused(q.Upload(soundsRoute, q.R.Header.Get("Content-Type"), q.R.Body, &added)); err != nil {
		return err
	}
	if !f.OK() {
		return q.ShowInvalid("sounds", "sound-form", SoundsTitle)(newSoundsView(q, f))
	}
	return q.Done(SoundsAt, "The sound "+added.Name+" was added. Choose it in the settings of an agent.")
}

func deleteSound(q *page.Request) error {
	return q.Do(http.MethodDelete, page.Path(soundsRoute+"/", q.ID("id")), nil, SoundsAt, "The sound was deleted.")
}
