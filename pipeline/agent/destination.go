package agent

import (
	"errors"
	"fmt"
	"strings"

	"parley/billing/destination"
	"parley/pipeline/schema"
)

// Destination is somebody whom callers may be transferred to.
type Destination struct {
	Number      string `json:"number"`                // as it is dialled: in E.164, or a SIP address (destination.Address)
	Name        string `json:"name,omitempty"`        // what the agent calls them
	Description string `json:"description,omitempty"` // when to transfer to them
	// Warm has the person called first and told what it is about.
	Warm bool `json:"warm,omitempty"`
	// Stay has the agent introduce the two to each other and stay until they have met. It takes the place of Warm.
	Stay bool `json:"stay,omitempty"`
}

// Label is the destination's name; without one, its number.
func (d *Destination) Label() string {
	if d.Name != "" {
		return d.Name
	}
	return d.Number
}

// Values of HoldSound that are no identifiers.
const (
	HoldRinging = "ringing"
	HoldMusic   = "music"
)

// Bounds of the list of people whom callers may be transferred to.
const (
	maxDestinations = 32
	maxLabel        = 60  // characters of a name
	maxDescription  = 200 // characters
)

// leastAnnouncement is the shortest time between two announcements, in seconds.
const leastAnnouncement = 20

// dialled brings a number or a SIP address into the form that is kept. Its errors continue a path.
func dialled(s string) (string, error) {
	if destination.IsAddress(strings.TrimSpace(s)) {
		a, err := destination.ParseAddress(s)
		if err != nil {
			return "", err
		}
		return a.String(), nil
	}
	if destination.Emergency(s) {
		return "", destination.ErrEmergency
	}
	number, err := destination.International(s)
	if err != nil {
		return "", errors.New("must be a telephone number in international format, such as +34911234567, or a SIP address, such as sip:200@pbx.example.com")
	}
	return number, nil
}

// checkTransfers brings the list into the form that is kept.
func (s *Settings) checkTransfers(wrong *schema.Mistakes) {
	if n := or(s.HoldAnnouncementSeconds, 0); n > 0 && n < leastAnnouncement {
		wrong.Add("settings.hold_announcement_seconds", "%d, must be 0 or at least %d", n, leastAnnouncement)
	}
	seen := map[string]bool{}
	for i := range s.TransferTo {
		d := &s.TransferTo[i]
		path := fmt.Sprintf("settings.transfer_to[%d]", i)
		number, err := dialled(d.Number)
		if errors.Is(err, destination.ErrEmergency) {
			wrong.Add(path+".number", "is an emergency number. %s", destination.EmergencyRefused)
			continue
		}
		if err != nil {
			wrong.Add(path+".number", "%s", err)
			continue
		}
		d.Number, d.Name, d.Description = number, strings.TrimSpace(d.Name), strings.TrimSpace(d.Description)
		label := strings.ToLower(d.Label())
		if seen[label] {
			wrong.Add(path, "there are two of %q", d.Label())
		}
		seen[label] = true
	}
}
