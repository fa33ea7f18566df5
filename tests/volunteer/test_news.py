"""What happened last: what happens often takes one line, and hides nothing."""

from dlmini.volunteer.news import News


def test_the_newest_is_first_and_only_so_many_are_kept():
    news = News(3)
    for k in range(5):
        news.tell(f"host {k} joins")
    assert news.lines() == ["host 4 joins", "host 3 joins", "host 2 joins"]


def test_what_happens_often_takes_one_line_and_is_counted():
    news = News(4)
    news.tell("ann joins")
    for unit in range(26):
        news.tell(f"liar is wrong about {unit}", "7 invalid")
        news.tell(f"liar missed {unit}", "7 missed")
    news.tell("bob is wrong about 1", "8 invalid")
    assert news.lines() == [
        "bob is wrong about 1",
        "liar missed 25 (26 times so far)",
        "liar is wrong about 25 (26 times so far)",
        "ann joins",
    ]


def test_lines_that_say_the_same_without_a_kind_stay():
    news = News(3)
    news.tell("ann joins"), news.tell("ann joins")
    assert news.lines() == ["ann joins"] * 2
