# Chart.js (libjs-chart.js) becomes part of the binary, so that an HTML report is one file. Without
# it the plots of a report are plain SVG.
find_file(KVSIM_CHART_JS NAMES chart.min.js Chart.min.js PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist
          NO_DEFAULT_PATH)
mark_as_advanced(KVSIM_CHART_JS)
if(KVSIM_CHART_JS AND TARGET kvsim_report)
  set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/report/chart_js.cpp PROPERTIES
    COMPILE_DEFINITIONS "KVSIM_CHART_JS=\"${KVSIM_CHART_JS}\"" OBJECT_DEPENDS "${KVSIM_CHART_JS}")
endif()
