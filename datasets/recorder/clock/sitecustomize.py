"""Python runs this file first in a server with `clock = true`: its present is `RECORDER_NOW`."""

import datetime
import os

_MOMENT = datetime.datetime.fromisoformat(os.environ["RECORDER_NOW"])


class _StandingClock(datetime.datetime):
    """`datetime` whose `now` stands still, so that a recording can be repeated."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> "_StandingClock":
        moment = _MOMENT.astimezone(tz)
        fields = (moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second)
        return cls(*fields, tzinfo=moment.tzinfo if tz else None, fold=moment.fold)


datetime.datetime = _StandingClock  # type: ignore[misc]
