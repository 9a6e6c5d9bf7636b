package manage_test

import (
	"strings"
	"testing"

	"parley/api/wire"
	"parley/store/ledger"
	"parley/store/people"
)

// TestAccount: a key learns whose it is and what it may do, and nothing of other accounts.
func TestAccount(t *testing.T) {
	o := open(t)
	days, limit, email := 90, 7, "lola@example.com"
	o.OK(o.Ledger.ChangeAccount(t.Context(), o.A.Account, ledger.AccountChange{ConversationDays: &days, Concurrency: &limit, Email: &email}))
	boss := o.boss(o.A)
	var member, owner, other wire.OwnAccount
	o.Read(o.A, "/v1/account", &member)
	text := o.Read(boss, "/v1/account", &owner)
	o.Read(o.B, "/v1/account", &other)
	if member.ID != o.A.Account || member.Email != email || member.Concurrency != (wire.Concurrency{Limit: limit}) || member.RecordingDays != 30 ||
		member.TalkDays == nil || *member.TalkDays != days || member.Suspended || member.Disputed || member.Balance <= 0 {
		t.Errorf("the account is %+v", member)
	}
	if member.RequestsPerSecond == nil || *member.RequestsPerSecond != 50 {
		t.Errorf("requests per second: %v", member.RequestsPerSecond)
	}
	if member.Key == nil || member.Key.ID != o.A.KeyID || member.Key.Role != people.RoleMember || member.Key.Money {
		t.Errorf("the member's key is %+v", member.Key)
	}
	if owner.ID != o.A.Account || owner.Key == nil || owner.Key.ID != boss.KeyID || owner.Key.Role != people.RoleOwner || owner.Key.Name != "boss" || !owner.Key.Money {
		t.Errorf("the owner's key is %+v", owner.Key)
	}
	if strings.Contains(text, boss.Key) {
		t.Errorf("the key itself is in %s", text)
	}
	if other.ID != o.B.Account || other.Email != "" || other.TalkDays != nil || other.Key == nil || other.Key.ID != o.B.KeyID {
		t.Errorf("the other account is %+v", other)
	}
}
