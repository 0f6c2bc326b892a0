//! strftime as Python's datetime.now().strftime does it in the C locale.

const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A moment on the local calendar.
struct Moment {
    year: i64,
    month: i64,    // 1..=12
    day: i64,      // 1..=31
    weekday: i64,  // 0 is Sunday
    year_day: i64, // 0 is January 1
    hour: i64,
    minute: i64,
    second: i64,
}

impl Moment {
    fn from_local_seconds(seconds: i64) -> Moment {
        let days = seconds.div_euclid(86_400);
        let in_day = seconds.rem_euclid(86_400);
        // Counting years from March puts the leap day last: 400 years have
        // 146 097 days, and month lengths follow (153 m + 2) / 5.
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let march_day = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * march_day + 2) / 153;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        let leap = is_leap(year);
        let year_day = if month <= 2 { march_day - 306 } else { march_day + 59 + i64::from(leap) };
        Moment {
            year,
            month,
            day: march_day - (153 * march_month + 2) / 5 + 1,
            weekday: (days + 4).rem_euclid(7),
            year_day,
            hour: in_day / 3_600,
            minute: in_day / 60 % 60,
            second: in_day % 60,
        }
    }

    fn hour12(&self) -> i64 {
        (self.hour + 11) % 12 + 1
    }

    /// The ISO 8601 year and week.
    fn iso_week(&self) -> (i64, i64) {
        let monday_based = (self.weekday + 6) % 7;
        let week = (self.year_day - monday_based + 10) / 7;
        if week < 1 {
            (self.year - 1, weeks_in(self.year - 1))
        } else if week > weeks_in(self.year) {
            (self.year + 1, 1)
        } else {
            (self.year, week)
        }
    }

    /// A number, its usual width and its usual padding.
    fn number(&self, directive: char) -> Option<(i64, usize, char)> {
        Some(match directive {
            'd' => (self.day, 2, '0'),
            'e' => (self.day, 2, ' '),
            'H' => (self.hour, 2, '0'),
            'k' => (self.hour, 2, ' '),
            'I' => (self.hour12(), 2, '0'),
            'l' => (self.hour12(), 2, ' '),
            'j' => (self.year_day + 1, 3, '0'),
            'm' => (self.month, 2, '0'),
            'M' => (self.minute, 2, '0'),
            'S' => (self.second, 2, '0'),
            'f' => (0, 6, '0'),
            'u' => ((self.weekday + 6) % 7 + 1, 1, '0'),
            'w' => (self.weekday, 1, '0'),
            'U' => ((self.year_day + 7 - self.weekday) / 7, 2, '0'),
            'W' => ((self.year_day + 7 - (self.weekday + 6) % 7) / 7, 2, '0'),
            'V' => (self.iso_week().1, 2, '0'),
            'G' => (self.iso_week().0, 1, '0'),
            'g' => (self.iso_week().0.rem_euclid(100), 2, '0'),
            'y' => (self.year.rem_euclid(100), 2, '0'),
            'Y' => (self.year, 1, '0'),
            'C' => (self.year.div_euclid(100), 2, '0'),
            _ => return None,
        })
    }

    fn text(&self, directive: char) -> Option<String> {
        let day = DAYS[self.weekday as usize];
        let month = MONTHS[(self.month - 1) as usize];
        Some(match directive {
            'a' => day[..3].into(),
            'A' => day.into(),
            'b' | 'h' => month[..3].into(),
            'B' => month.into(),
            'p' => if self.hour < 12 { "AM" } else { "PM" }.into(),
            'P' => if self.hour < 12 { "am" } else { "pm" }.into(),
            'c' => self.format("%a %b %e %H:%M:%S %Y"),
            'D' | 'x' => self.format("%m/%d/%y"),
            'F' => self.format("%Y-%m-%d"),
            'r' => self.format("%I:%M:%S %p"),
            'R' => self.format("%H:%M"),
            'T' | 'X' => self.format("%H:%M:%S"),
            'z' | 'Z' => String::new(), // datetime.now() knows no time zone
            'n' => "\n".into(),
            't' => "\t".into(),
            '%' => "%".into(),
            _ => return None,
        })
    }

    fn format(&self, format: &str) -> String {
        let mut out = String::new();
        let mut rest = format;
        while let Some(at) = rest.find('%') {
            out.push_str(&rest[..at]);
            let directive = &rest[at..];
            let flags = directive[1..].chars().take_while(|c| "-_0^".contains(*c)).count();
            let Some(kind) = directive[1 + flags..].chars().next() else {
                rest = directive;
                break;
            };
            let end = 1 + flags + kind.len_utf8();
            let flags = &directive[1..1 + flags];
            if let Some((value, width, padding)) = self.number(kind) {
                out.push_str(&padded(value, width, flags.chars().last().unwrap_or(padding)));
            } else if let Some(text) = self.text(kind) {
                let upper = flags.contains('^');
                out.push_str(&if upper { text.to_uppercase() } else { text });
            } else {
                out.push_str(&directive[..end]);
            }
            rest = &directive[end..];
        }
        out.push_str(rest);
        out
    }
}

fn padded(value: i64, width: usize, padding: char) -> String {
    match padding {
        '-' => value.to_string(),
        '_' | ' ' => format!("{value:width$}"),
        _ => format!("{value:0width$}"),
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn weeks_in(year: i64) -> i64 {
    // A year has 53 ISO weeks when it starts or ends on a Thursday.
    let last_weekday =
        |y: i64| (y + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400)).rem_euclid(7);
    52 + i64::from(last_weekday(year) == 4 || last_weekday(year - 1) == 3)
}

/// Formats the moment `local_seconds` after 1970-01-01 00:00 of the local calendar.
pub fn strftime(local_seconds: i64, format: &str) -> String {
    // Years 1..=9999, as in Python.
    Moment::from_local_seconds(local_seconds.clamp(-62_135_596_800, 253_402_300_799)).format(format)
}
