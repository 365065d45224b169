package bus

import (
	"fmt"
	"slices"
)

// Rights are what a user of the servers may do. Subjects may have wildcards.
type Rights struct {
	Publish   []string
	Subscribe []string // beside the user's own inbox
	Answers   bool     // it may answer the requests that it gets
}

// InboxPrefix begins the subjects of answers to a user, whose rights name them as
// InboxPrefix + name + ".>". A user of such a file of credentials reads no other's answers.
const InboxPrefix = "_INBOX_"

// RightsOf returns the least rights with which a role of the run with the given id does
// its work: actor, replay, trainer, gate or verify. An actor has the given name, and
// publishes games under no other. An operator may do everything. The error wraps ErrName.
//
// A user that may read a stream can have the server send what it reads to any subject.
func RightsOf(role, id, actor string) (Rights, error) {
	if err := checkRunName("run id", id); err != nil {
		return Rights{}, err
	}
	b := &Bus{id: id}
	registry, ctl, roles, objects := "KV_"+registryName, "KV_"+b.ctlName(), "KV_"+b.rolesName(), "OBJ_"+b.netsName()
	streams := []string{b.gamesName(), b.rejectsName(), ctl, roles, objects}
	pointer := func(keys ...string) (all []string) {
		for _, k := range keys {
			all = append(all, "$KV."+b.ctlName()+"."+k)
		}
		return all
	}
	there := func(role, instance string) []string {
		return []string{"$KV." + b.rolesName() + "." + role + "." + instance}
	}
	api := func(verb string, streams ...string) (all []string) {
		for _, s := range streams {
			all = append(all, "$JS.API.STREAM."+verb+"."+s)
		}
		return all
	}
	r := Rights{Publish: slices.Concat([]string{"$JS.API.INFO"}, api("INFO", streams...), readStream(registry), readStream(ctl), readStream(objects))}
	may := func(subjects ...[]string) { r.Publish = append(r.Publish, slices.Concat(subjects...)...) }
	serves := func() { r.Subscribe, r.Answers = []string{b.askSubject(role) + ".>"}, true }
	switch role {
	case "actor":
		if err := checkName("actor", actor); err != nil {
			return Rights{}, err
		}
		may([]string{b.gameSubject(actor), b.askSubject("replay.has")}, there(role, actor))
	case "replay":
		serves()
		games := b.gamesName()
		consumer := games + "." + consumerName
		may(there(role, "*"), pointer(leasePrefix+"replay", auditPrefix+"*"), []string{b.rejectSubject(), "$JS.ACK." + consumer + ".>"},
			api("CREATE", streams...), api("UPDATE", streams...), api("PURGE", games), api("MSG.GET", games),
			[]string{"$JS.API.DIRECT.GET." + games, "$JS.API.DIRECT.GET." + games + ".>", "$JS.API.CONSUMER.CREATE." + consumer, "$JS.API.CONSUMER.INFO." + consumer,
				"$JS.API.CONSUMER.DELETE." + consumer, "$JS.API.CONSUMER.RESET." + consumer, "$JS.API.CONSUMER.MSG.NEXT." + consumer})
	case "trainer":
		serves()
		all := append(slices.Clone(streams), registry)
		may(there(role, "*"), pointer("config", "settings", "candidate.>", "current.>", "judged.>", leasePrefix+"trainer", auditPrefix+"*"),
			[]string{b.askSubject("replay.window"), "$KV." + registryName + ".>", "$O." + b.netsName() + ".>"},
			api("CREATE", all...), api("UPDATE", all...), api("PURGE", objects))
	case "gate":
		serves()
		may(there(role, "*"), readStream(roles), pointer("current.>", "judged.>", leasePrefix+"referee"), []string{b.askSubject("gate") + ".>"})
	case "verify":
		may(there(role, "*"), []string{b.askSubject("replay.window"), b.askSubject("replay.exclude"), b.askSubject("trainer.published")})
	case "operator":
		r = Rights{Publish: []string{">"}, Subscribe: []string{">"}}
	default:
		return Rights{}, fmt.Errorf("%w: role %.80q: want actor, replay, trainer, gate, verify or operator", ErrName, role)
	}
	return r, nil
}

// readStream are the subjects of who reads a bucket or an object store.
func readStream(s string) []string {
	return []string{
		"$JS.API.STREAM.INFO." + s, "$JS.API.DIRECT.GET." + s, "$JS.API.DIRECT.GET." + s + ".>",
		"$JS.API.CONSUMER.CREATE." + s + ".>", "$JS.API.CONSUMER.INFO." + s + ".*", "$JS.API.CONSUMER.DELETE." + s + ".*", "$JS.FC." + s + ".>",
	}
}
