"""People whom another issuer vouches for: what its token says of them that counts here.

1. Who somebody is follows from (issuer, subject) alone. Whom the directory does not know by it is known by an
   id made of it: nobody can choose a subject that makes them somebody else.
2. Every other name a token gives is an alias, which only ever takes away (design §7).
3. A verified address leads to a person of the directory only where the operator declared the issuer
   authoritative for addresses.
"""

from msgspec import Struct

from placet.domain.people import Subject


class StepUp(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A sign-in for one decision, as its issuer says (OpenID Connect Core §2). It is sealed with the vote.

    Attributes:
        at_ms: When the person proved who they are: ``auth_time``, Unix milliseconds.
        acr: How sure the issuer is: an authentication context class.
        amr: How they proved it: authentication methods (RFC 8176).
    """

    at_ms: int
    acr: str | None = None
    amr: tuple[str, ...] = ()


class Vouched(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An issuer's word on somebody. It is kept, sealed, with the votes that were cast on it.

    Attributes:
        iss: Who gives it.
        sub: Whom the issuer calls so (OpenID Connect Core §2); never another person's.
        groups: Those it says they are in; empty where that was said too long ago.
        aliases: Other names it has for them, folded.
        email: Their address, where the issuer says that it has verified it.
    """

    iss: str
    sub: str
    groups: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    email: str | None = None

    @property
    def subject(self) -> Subject:
        """What leads to a person of the directory."""
        return Subject(iss=self.iss, sub=self.sub)

    @property
    def stranger_id(self) -> str:
        """The id of whom the directory does not know."""
        return self.subject.stranger_id
